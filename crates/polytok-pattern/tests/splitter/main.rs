//! Compares `Splitter` with `fancy_regex`; tiktoken splits texts with the function `find_iter` of `fancy_regex`.

mod compared;
mod general_engine;
mod generated_patterns;
mod known_patterns;
mod patterns;
mod syntax;
mod texts;
