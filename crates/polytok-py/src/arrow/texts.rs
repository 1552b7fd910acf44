//! Arrow's ways to lay out texts. Offsets and views come from outside and are checked; UTF-8 is not. Strings and binaries stay where
//! they are; views are copied, as they lie in several buffers; entries of a dictionary are there once.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use polytok_core::texts::Texts;

/// A buffer, as bytes.
struct Held(Buffer);

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// The texts of an array.
pub fn texts_of(data: &ArrayData) -> Result<Texts, String> {
    let texts = match data.data_type() {
        DataType::Utf8 | DataType::Binary => by_offsets::<i32>(data)?,
        DataType::LargeUtf8 | DataType::LargeBinary => by_offsets::<i64>(data)?,
        DataType::Utf8View | DataType::BinaryView => by_views(data)?,
        DataType::Dictionary(keys, _) => return by_keys(data, keys),
        DataType::Null => {
            return Ok(Texts::new(Arc::new([]), vec![0..0; data.len()]).with_nulls((0..data.len()).collect()));
        }
        other => return Err(format!("a column of {other}")),
    };
    let nulls = data.nulls().map_or(Vec::new(), |nulls| (0..data.len()).filter(|&row| nulls.is_null(row)).collect());
    Ok(texts.with_nulls(nulls))
}

fn by_offsets<T: ArrowNativeType>(data: &ArrayData) -> Result<Texts, String> {
    let values = data.buffers()[1].clone();
    if data.is_empty() {
        return Ok(Texts::new(Arc::new(Held(values)), Vec::new()));
    }
    let offsets: &[T] = entries(&data.buffers()[0], data, 1)?;
    let span = |(row, pair): (usize, &[T])| match (pair[0].to_usize(), pair[1].to_usize()) {
        (Some(start), Some(end)) if start <= end && end <= values.len() => Ok(start..end),
        _ => Err(format!("the text of row {row} is at {:?} to {:?} of {} bytes", pair[0], pair[1], values.len())),
    };
    let spans = offsets.windows(2).enumerate().map(span).collect::<Result<_, _>>()?;
    Ok(Texts::new(Arc::new(Held(values)), spans))
}

fn by_views(data: &ArrayData) -> Result<Texts, String> {
    let views: &[u128] = entries(&data.buffers()[0], data, 0)?;
    let (mut buffer, mut spans) = (Vec::new(), Vec::with_capacity(views.len()));
    for (row, &view) in views.iter().enumerate() {
        let from = buffer.len();
        if data.is_valid(row) {
            let bytes = view.to_le_bytes();
            let text = viewed(&bytes, &data.buffers()[1..]);
            buffer.extend_from_slice(text.ok_or_else(|| format!("the text of row {row} is in no buffer"))?);
        }
        spans.push(from..buffer.len());
    }
    Ok(Texts::new(Arc::new(buffer), spans))
}

/// The text of a view: its length, and up to 12 bytes, or four of them and the number of a buffer and a place in it.
fn viewed<'a>(view: &'a [u8; 16], buffers: &'a [Buffer]) -> Option<&'a [u8]> {
    let part = |at: usize| i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]).to_usize();
    let length = part(0)?;
    if length <= 12 {
        return view.get(4..4 + length);
    }
    let start = part(12)?;
    buffers.get(part(8)?)?.get(start..start.checked_add(length)?)
}

/// The texts of a dictionary, by their keys.
fn by_keys(data: &ArrayData, keys: &DataType) -> Result<Texts, String> {
    let rows = match keys {
        DataType::Int8 => rows::<i8>(data)?,
        DataType::Int16 => rows::<i16>(data)?,
        DataType::Int32 => rows::<i32>(data)?,
        DataType::Int64 => rows::<i64>(data)?,
        DataType::UInt8 => rows::<u8>(data)?,
        DataType::UInt16 => rows::<u16>(data)?,
        DataType::UInt32 => rows::<u32>(data)?,
        _ => rows::<u64>(data)?,
    };
    let values = data.child_data().first().ok_or("a dictionary without entries")?;
    let values = texts_of(values)?;
    match rows.iter().flatten().find(|&&key| key >= values.len()) {
        Some(key) => Err(format!("key {key} of a dictionary of {} entries", values.len())),
        None => Ok(values.select(&rows)),
    }
}

/// The keys of a dictionary, None for null. What is no number of a row is too large a one.
fn rows<T: ArrowNativeType>(data: &ArrayData) -> Result<Vec<Option<usize>>, String> {
    let keys: &[T] = entries(&data.buffers()[0], data, 0)?;
    let key = |(row, key): (usize, &T)| data.is_valid(row).then(|| key.to_usize().unwrap_or(usize::MAX));
    Ok(keys.iter().enumerate().map(key).collect())
}

/// The numbers of an array's rows, and `more` behind them.
fn entries<'a, T: ArrowNativeType>(buffer: &'a Buffer, data: &ArrayData, more: usize) -> Result<&'a [T], String> {
    let range: Range<usize> = data.offset()..data.offset() + data.len() + more;
    buffer.typed_data::<T>().get(range).ok_or_else(|| "a buffer is too short".into())
}
