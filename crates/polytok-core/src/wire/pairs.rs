//! Reads the form in which the package has its default vocabulary: the ids of the two parts of each token. The ids below
//! 256 are the bytes; a token after them joins two earlier ones.
//!
//! The file has four columns of a byte for each token, which compress better than numbers in turn: the high bytes of the
//! left ids, the high bytes of the right ids, the low bytes of the left ids, and those of the right ids.

use polytok_memory as memory;

use super::minbpe::{byte_columns, push_merged};
use crate::error::{Error, Result};
use crate::spec::VocabColumns;

/// The maximum length of all tokens together, far more than the default vocabulary has.
const MAX_BYTES: usize = 1 << 24;

/// Reads the vocabulary; the id of a token is its row.
pub fn read(data: &[u8]) -> Result<VocabColumns> {
    memory::catch(|| {
        if !data.len().is_multiple_of(4) {
            return Err(Error::Format(format!("{} bytes are not four columns", data.len())));
        }
        let count = data.len() / 4;
        let mut columns = byte_columns()?;
        for at in 0..count {
            let id_at =
                |column: usize| u32::from_be_bytes([0, 0, data[at + column * count], data[at + (column + 2) * count]]);
            let (left, right, next) = (id_at(0), id_at(1), columns.ids.len() as u32);
            if left.max(right) >= next {
                return Err(Error::Format(format!(
                    "the token {next} joins {left} and {right}, which must be earlier ones"
                )));
            }
            push_merged(&mut columns, left, right, MAX_BYTES)?;
        }
        Ok(columns)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_join_earlier_tokens() {
        let columns = read(&[0, 1, 0, 0, b'a', 0, b'b', b'c']).unwrap();
        assert_eq!(&columns.blob[256..], b"ababc");
        assert_eq!((columns.ids.len(), &columns.offsets[256..]), (258, &[256, 258, 261][..]));
    }

    #[test]
    fn damage_is_an_error() {
        for (data, what) in [
            (&[0, 0, 1][..], "3 bytes are not four columns"),
            (&[1, 0, 0, b'b'], "the token 256 joins 256 and 98, which must be earlier ones"),
        ] {
            assert!(read(data).unwrap_err().to_string().contains(what));
        }
        let doubled: Vec<u32> = (0..60).map(|t| if t == 0 { 97 } else { 255 + t }).collect();
        let high = doubled.iter().map(|id| (id >> 8) as u8);
        let low = doubled.iter().map(|&id| id as u8);
        let data: Vec<u8> = high.clone().chain(high).chain(low.clone()).chain(low).collect();
        assert!(read(&data).unwrap_err().to_string().contains("longer than 16777216 bytes"));
    }
}
