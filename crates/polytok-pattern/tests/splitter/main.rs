//! `Splitter` against `fancy_regex`, whose `find_iter` is what tiktoken splits with.

mod compared;
mod general_engine;
mod generated_patterns;
mod known_patterns;
mod patterns;
mod syntax;
mod texts;
