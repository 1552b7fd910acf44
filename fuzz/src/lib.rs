//! The fuzzing targets: functions of bytes that panic if polytok panics, or if two ways to the same result differ.

pub mod choices;
pub mod memory;
pub mod naive;
pub mod specs;
mod targets;

/// A function that runs one input.
pub type Target = fn(&[u8]);

/// The targets by name.
pub const TARGETS: &[(&str, Target)] = &[
    ("sentencepiece", targets::readers::sentencepiece),
    ("gguf", targets::readers::gguf),
    ("huggingface", targets::readers::huggingface),
    ("vocab_json", targets::readers::vocab_json),
    ("tekken", targets::readers::tekken),
    ("tiktoken", targets::readers::tiktoken),
    ("rwkv", targets::readers::rwkv),
    ("minbpe", targets::readers::minbpe),
    ("llama2c", targets::readers::llama2c),
    ("native", targets::native::run),
    ("pattern", targets::pattern::run),
    ("encode", targets::encode::run),
    ("models", targets::models::run),
    ("decode", targets::decode::run),
    ("incremental", targets::incremental::run),
    ("texts", targets::texts::run),
    ("json_lines", targets::texts::json_lines),
    ("python_str", targets::python_str::run),
];
