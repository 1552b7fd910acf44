//! Computes the checksum of written files: the 128-bit XXH3, in the form that `xxhsum -H2` prints.
//!
//! The checksum detects accidental damage, not deliberate changes. XXH3 was chosen for its speed: ids are written
//! faster than SHA-256 is computed.

use xxhash_rust::xxh3::Xxh3;

/// The checksum of bytes that arrive in parts.
#[derive(Clone, Default)]
pub struct Checksum(Xxh3);

impl Checksum {
    /// Adds the next bytes.
    pub fn update(&mut self, part: &[u8]) {
        self.0.update(part);
    }

    /// Returns the checksum of all bytes so far, as 32 hexadecimal digits.
    pub fn hex(&self) -> String {
        format!("{:032x}", self.0.digest128())
    }
}

#[cfg(test)]
mod tests {
    use super::Checksum;

    #[test]
    fn parts_are_one_stream() {
        let (mut one_part, mut parts) = (Checksum::default(), Checksum::default());
        one_part.update(&[7; 1000]);
        for part in [[7; 1].as_slice(), &[7; 499], &[7; 500]] {
            parts.update(part);
        }
        assert_eq!(one_part.hex(), parts.hex());
    }

    #[test]
    fn no_bytes_have_the_value_of_the_specification() {
        assert_eq!(Checksum::default().hex(), "99aa06d3014798d86001c324468d497f");
    }
}
