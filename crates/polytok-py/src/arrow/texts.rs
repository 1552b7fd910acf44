//! Arrow's layouts of texts. Offsets and views come from other packages and are checked; UTF-8 is not checked. Strings
//! and binaries are not copied. Views are copied, because the texts of a column of views are in several buffers. The
//! entries of a dictionary are stored once.

use std::ops::Range;
use std::sync::Arc;

use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_data::ArrayData;
use arrow_schema::DataType;
use polytok_core::texts::Texts;
use polytok_memory::{self as memory, Collect, Grow, TryCollect};

/// A buffer that a column of texts keeps.
struct HeldBuffer(Buffer);

impl AsRef<[u8]> for HeldBuffer {
    fn as_ref(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Reads the texts of an array.
pub fn read_texts(data: &ArrayData) -> Result<Texts, String> {
    let texts = match data.data_type() {
        DataType::Utf8 | DataType::Binary => read_offset_texts::<i32>(data)?,
        DataType::LargeUtf8 | DataType::LargeBinary => read_offset_texts::<i64>(data)?,
        DataType::Utf8View | DataType::BinaryView => read_view_texts(data)?,
        DataType::Dictionary(keys, _) => return read_dictionary_texts(data, keys),
        DataType::Null => {
            let spans = memory::filled(0..0, data.len());
            return Ok(Texts::new(Arc::new([]), spans).with_nulls((0..data.len()).checked_collect()));
        }
        other => return Err(format!("columns of {other} are not supported")),
    };
    let nulls =
        data.nulls().map_or(Vec::new(), |nulls| (0..data.len()).filter(|&row| nulls.is_null(row)).checked_collect());
    Ok(texts.with_nulls(nulls))
}

fn read_offset_texts<T: ArrowNativeType>(data: &ArrayData) -> Result<Texts, String> {
    let values = data.buffers()[1].clone();
    if data.is_empty() {
        return Ok(Texts::new(Arc::new(HeldBuffer(values)), Vec::new()));
    }
    let offsets: &[T] = entries(&data.buffers()[0], data, 1)?;
    let span = |(row, pair): (usize, &[T])| match (pair[0].to_usize(), pair[1].to_usize()) {
        (Some(start), Some(end)) if start <= end && end <= values.len() => Ok(start..end),
        _ => Err(format!(
            "the text of row {row} has the offsets {:?} to {:?} in a buffer of {} bytes",
            pair[0],
            pair[1],
            values.len()
        )),
    };
    let spans = offsets.windows(2).enumerate().map(span).checked_try_collect()?;
    Ok(Texts::new(Arc::new(HeldBuffer(values)), spans))
}

fn read_view_texts(data: &ArrayData) -> Result<Texts, String> {
    let views: &[u128] = entries(&data.buffers()[0], data, 0)?;
    let (mut buffer, mut spans) = (Vec::new(), memory::with_capacity(views.len()));
    for (row, &view) in views.iter().enumerate() {
        let from = buffer.len();
        if data.is_valid(row) {
            let bytes = view.to_le_bytes();
            let text = view_text(&bytes, &data.buffers()[1..]);
            buffer.checked_extend_from_slice(
                text.ok_or_else(|| format!("the view of row {row} is outside the buffers"))?,
            );
        }
        spans.checked_push(from..buffer.len());
    }
    Ok(Texts::new(Arc::new(buffer), spans))
}

/// Returns the text of a view. A view has the length of the text, then a text of up to 12 bytes. For a longer text, a
/// view has the first four bytes of the text, the index of a buffer, and an offset in that buffer.
fn view_text<'a>(view: &'a [u8; 16], buffers: &'a [Buffer]) -> Option<&'a [u8]> {
    let part = |at: usize| i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]).to_usize();
    let length = part(0)?;
    if length <= 12 {
        return view.get(4..4 + length);
    }
    let start = part(12)?;
    buffers.get(part(8)?)?.get(start..start.checked_add(length)?)
}

/// Reads the texts of a dictionary array.
fn read_dictionary_texts(data: &ArrayData, keys: &DataType) -> Result<Texts, String> {
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
    let values = data.child_data().first().ok_or("a dictionary has no entries")?;
    let values = read_texts(values)?;
    match rows.iter().flatten().find(|&&key| key >= values.len()) {
        Some(key) => Err(format!("a dictionary of {} entries has no key {key}", values.len())),
        None => Ok(values.select(&rows)),
    }
}

/// Returns the keys of a dictionary array, with None for null. An invalid key, which cannot be an index, is returned as
/// usize::MAX.
fn rows<T: ArrowNativeType>(data: &ArrayData) -> Result<Vec<Option<usize>>, String> {
    let keys: &[T] = entries(&data.buffers()[0], data, 0)?;
    let key = |(row, key): (usize, &T)| data.is_valid(row).then(|| key.to_usize().unwrap_or(usize::MAX));
    Ok(keys.iter().enumerate().map(key).checked_collect())
}

/// Returns the numbers of the rows of an array in `buffer`, followed by `more` further numbers.
fn entries<'a, T: ArrowNativeType>(buffer: &'a Buffer, data: &ArrayData, more: usize) -> Result<&'a [T], String> {
    let range: Range<usize> = data.offset()..data.offset() + data.len() + more;
    buffer.typed_data::<T>().get(range).ok_or_else(|| "a buffer is shorter than its array".into())
}
