//! A module for each group of targets.

pub mod decode;
pub mod encode;
pub mod incremental;
pub mod models;
pub mod native;
pub mod pattern;
pub mod python_str;
pub mod readers;
pub mod texts;
