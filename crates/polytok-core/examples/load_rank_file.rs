//! Loads one of tiktoken's rank files, and counts the tokens of a text. A rank file contains neither its pattern nor its
//! special tokens; those here are GPT-2's.
//!
//!     cargo run --example load_rank_file -- gpt2.tiktoken "Hello, world<|endoftext|>"

use std::error::Error;

use polytok_core::tokenizer::{EncodeOptions, Tokenizer};
use polytok_core::wire::rank_file;

const PATTERN: &str = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const SPECIAL: [(&str, u32); 1] = [("<|endoftext|>", 50256)];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, text] = &arguments[..] else {
        return Err("pass a rank file and a text".into());
    };
    println!("{} tokens", count(&std::fs::read(path)?, text)?);
    Ok(())
}

/// Returns the number of tokens of a text in which special tokens are recognized.
pub fn count(file: &[u8], text: &str) -> Result<usize, Box<dyn Error>> {
    let tokenizer = Tokenizer::compile(rank_file::spec(file, Some(PATTERN), &SPECIAL)?)?;
    let special = tokenizer.special_set(|_| true)?;
    let options = EncodeOptions { special: special.as_ref(), ..EncodeOptions::default() };
    Ok(tokenizer.count(text.as_bytes(), options)?)
}
