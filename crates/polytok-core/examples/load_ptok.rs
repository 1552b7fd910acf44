//! Loads a `.ptok` file, and encodes and decodes a text. `polytok convert` writes such a file from a vocabulary of any
//! format.
//!
//!     polytok convert default default.ptok
//!     cargo run --example load_ptok -- default.ptok "Hello, world"

use std::error::Error;

use polytok_core::native::Image;
use polytok_core::tokenizer::{EncodeOptions, Tokenizer};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, text] = &arguments[..] else {
        return Err("pass a .ptok file and a text".into());
    };
    println!("{}", encode_and_decode(&std::fs::read(path)?, text)?);
    Ok(())
}

/// Returns the ids of a text, and the text of these ids.
pub fn encode_and_decode(file: &[u8], text: &str) -> Result<String, Box<dyn Error>> {
    let tokenizer = Tokenizer::from_image(Image::copy(file)?)?;
    let mut ids = Vec::new();
    tokenizer.encode(text.as_bytes(), EncodeOptions::default(), &mut ids)?;
    let decoded = String::from_utf8(tokenizer.decode(&ids, false)?)?;
    Ok(format!("{ids:?} {decoded}"))
}
