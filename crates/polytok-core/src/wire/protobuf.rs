//! Reads the protobuf wire format: the fields of a message in order, without a schema.
//!
//! Reference: the encoding chapter of the protobuf documentation. A field is a varint `number << 3 | type` and a value;
//! groups, which only old files have, are skipped. Cost: one pass. A list stores the open groups, so the reader does
//! not recurse.

use polytok_memory::Grow;

use crate::error::{Error, Result};

/// The value of a field, by its wire type.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FieldValue<'a> {
    /// Wire type 0: an integer.
    Varint(u64),
    /// Wire type 5: four bytes.
    Fixed32([u8; 4]),
    /// Wire type 2: a string, bytes, a message or packed numbers.
    Bytes(&'a [u8]),
    /// Wire types 1 and 3, whose values no caller needs.
    Other,
}

/// One field of a message.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field<'a> {
    /// The field number, from 1 to 2^29 - 1.
    pub number: u32,
    /// The value of the field.
    pub value: FieldValue<'a>,
    /// The bytes of the field, including the tag.
    pub raw: &'a [u8],
    /// The offset of the field in the message.
    pub at: usize,
}

/// The fields of a message, in file order. The first error ends the iteration.
#[derive(Debug)]
pub struct MessageFields<'a> {
    data: &'a [u8],
    at: usize,
}

const GROUP_START: u8 = 3;
const GROUP_END: u8 = 4;

impl<'a> MessageFields<'a> {
    /// Reads `data` as one message.
    pub fn new(data: &'a [u8]) -> MessageFields<'a> {
        MessageFields { data, at: 0 }
    }

    /// Reads a field of bytes with a tag of one byte and a length of one byte, like nearly all fields of a vocabulary.
    #[inline]
    fn short_field(&mut self) -> Option<Field<'a>> {
        let (start, left) = (self.at, &self.data[self.at..]);
        let &[tag @ 8..=0x7F, length @ 0..=0x7F, ..] = left else { return None };
        let end = 2 + length as usize;
        let bytes = left.get(2..end).filter(|_| tag & 7 == 2)?;
        self.at = start + end;
        Some(Field { number: u32::from(tag >> 3), value: FieldValue::Bytes(bytes), raw: &left[..end], at: start })
    }

    fn next_field(&mut self) -> Result<Field<'a>> {
        let start = self.at;
        let (number, wire_type) = self.tag()?;
        let value = match wire_type {
            GROUP_START => self.skip_group(number)?,
            GROUP_END => return Err(damage_error(start, "a group ends that was never started")),
            _ => self.value(wire_type)?,
        };
        Ok(Field { number, value, raw: &self.data[start..self.at], at: start })
    }

    fn tag(&mut self) -> Result<(u32, u8)> {
        let start = self.at;
        let tag = self.varint()?;
        match u32::try_from(tag) {
            Ok(tag) if tag >> 3 != 0 => Ok((tag >> 3, (tag & 7) as u8)),
            _ => Err(damage_error(start, "a field number out of range")),
        }
    }

    fn value(&mut self, wire_type: u8) -> Result<FieldValue<'a>> {
        let start = self.at;
        Ok(match wire_type {
            0 => FieldValue::Varint(self.varint()?),
            1 => self.take(8).map(|_| FieldValue::Other)?,
            2 => {
                let length =
                    usize::try_from(self.varint()?).map_err(|_| damage_error(start, "a length out of range"))?;
                FieldValue::Bytes(self.take(length)?)
            }
            5 => {
                let bytes = self.take(4)?;
                FieldValue::Fixed32([bytes[0], bytes[1], bytes[2], bytes[3]])
            }
            _ => return Err(damage_error(start, "a wire type that does not exist")),
        })
    }

    fn skip_group(&mut self, number: u32) -> Result<FieldValue<'a>> {
        let mut open = vec![number];
        while let Some(&innermost) = open.last() {
            let start = self.at;
            match self.tag()? {
                (number, GROUP_START) => open.checked_push(number),
                (number, GROUP_END) if number == innermost => drop(open.pop()),
                (_, GROUP_END) => return Err(damage_error(start, "a group ends that was never started")),
                (_, wire_type) => drop(self.value(wire_type)?),
            }
        }
        Ok(FieldValue::Other)
    }

    fn varint(&mut self) -> Result<u64> {
        let start = self.at;
        if let Some(&byte @ 0..=0x7F) = self.data.get(start) {
            self.at += 1;
            return Ok(u64::from(byte));
        }
        let mut value = 0u64;
        for shift in (0..70).step_by(7) {
            let byte = *self.data.get(self.at).ok_or_else(|| damage_error(start, "the data ends within a number"))?;
            self.at += 1;
            // Only the lowest bit of the tenth byte fits into 64 bits; the higher bits are dropped, as in protobuf.
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(damage_error(start, "a number of more than ten bytes"))
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let left = self.data.len() - self.at;
        if length > left {
            return Err(damage_error(self.at, &format!("a field of {length} bytes, but {left} bytes remain")));
        }
        let bytes = &self.data[self.at..self.at + length];
        self.at += length;
        Ok(bytes)
    }
}

impl<'a> Iterator for MessageFields<'a> {
    type Item = Result<Field<'a>>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(field) = self.short_field() {
            return Some(Ok(field));
        }
        if self.at == self.data.len() {
            return None;
        }
        let field = self.next_field();
        if field.is_err() {
            self.at = self.data.len();
        }
        Some(field)
    }
}

fn damage_error(at: usize, what: &str) -> Error {
    Error::Format(format!("not a protobuf message: {what} (byte {at})"))
}

/// Appends a varint.
pub fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.checked_push(value as u8 | 0x80);
        value >>= 7;
    }
    out.checked_push(value as u8);
}

/// Returns the length in bytes of a value as a varint.
pub fn varint_len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Reads a varint from the start of `data`. Returns the value and the remaining data.
pub fn split_varint(data: &[u8]) -> Result<(u64, &[u8])> {
    let mut fields = MessageFields::new(data);
    let value = fields.varint()?;
    Ok((value, &data[fields.at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn varints_are_read_back() {
        for value in [0, 1, 127, 128, 300, u64::from(u32::MAX), u64::MAX] {
            let mut out = Vec::new();
            push_varint(&mut out, value);
            assert_eq!(out.len(), varint_len(value));
            assert_eq!(split_varint(&out).unwrap(), (value, &[][..]));
        }
    }

    #[test]
    fn groups_are_skipped_without_recursion() {
        let mut data = vec![0x0B; 100_000];
        data.extend(vec![0x0C; 100_000]);
        let fields: Vec<_> = MessageFields::new(&data).collect::<Result<_>>().unwrap();
        assert_eq!(fields.len(), 1);
        assert_eq!(fields[0].raw.len(), data.len());
        data.pop();
        assert!(MessageFields::new(&data).next().unwrap().is_err());
    }

    #[test]
    fn damage_is_an_error() {
        for data in [&[0x0C][..], &[0x07], &[0x0A, 5, 1], &[0x00, 0], &[0xFF; 11], &[0x09, 0], &[0x0B, 0x14]] {
            assert!(MessageFields::new(data).any(|field| field.is_err()), "{data:?}");
        }
    }
}
