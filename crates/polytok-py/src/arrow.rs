//! Exchanges columns with other packages by Arrow's C interface, in Python capsules. Reads columns of texts and returns
//! columns of ids and counts, without a copy.

mod export;
mod import;
mod texts;

use std::sync::Arc;

use arrow_array::types::{ArrowPrimitiveType, UInt16Type, UInt32Type};
use arrow_array::{Array, GenericListArray, Int64Array, OffsetSizeTrait, PrimitiveArray};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field};
use polytok_core::batch::{Batch, BatchOptions, Id, RowResult, count_batch, encode_batch};
use polytok_core::error::Error;
use polytok_core::texts::Texts;
use polytok_core::tokenizer::Tokenizer;
use polytok_memory::{self as memory, Collect};
use pyo3::prelude::*;

use crate::errors::{catch, row_error};
use crate::objects;
pub use export::{PyArrowArray, PyArrowStream};
pub use import::texts;

/// Encodes a column of texts to a column that has a list of ids for each text, and null for a null text. If
/// `is_narrow`, ids have 16 bits.
pub fn encode<'py>(
    tokenizer: &Tokenizer,
    is_narrow: bool,
    column: &Bound<'py, PyAny>,
    options: &BatchOptions,
) -> PyResult<Bound<'py, PyAny>> {
    each(
        column,
        |data_type| list_type(data_type, is_narrow),
        |texts, list| {
            let (slices, nulls) = (texts.slices(), null_buffer(texts));
            match (is_narrow, is_large(list)) {
                (true, true) => lists::<UInt16Type, i64>(encode_batch(tokenizer, &slices, options)?, nulls),
                (true, false) => lists::<UInt16Type, i32>(encode_batch(tokenizer, &slices, options)?, nulls),
                (false, true) => lists::<UInt32Type, i64>(encode_batch(tokenizer, &slices, options)?, nulls),
                (false, false) => lists::<UInt32Type, i32>(encode_batch(tokenizer, &slices, options)?, nulls),
            }
        },
    )
}

/// Counts the ids of each text of a column; the count of a null text is null.
pub fn count<'py>(
    tokenizer: &Tokenizer,
    column: &Bound<'py, PyAny>,
    options: &BatchOptions,
) -> PyResult<Bound<'py, PyAny>> {
    each(
        column,
        |_| DataType::Int64,
        |texts, _| {
            let counts = count_batch(tokenizer, &texts.slices(), options.encode, options.threads)?;
            Ok(Int64Array::new(counts.into(), null_buffer(texts)).into_data())
        },
    )
}

/// Converts each chunk of a column of texts by `convert`. Returns an array for an array, and a stream for a stream.
fn each<'py>(
    column: &Bound<'py, PyAny>,
    result: impl Fn(&DataType) -> DataType,
    convert: impl Fn(&Texts, &DataType) -> RowResult<ArrayData> + Sync,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, given) = (column.py(), import::chunks(column)?);
    let result = result(&given.data_type);
    let (mut made, mut before) = (catch(|| memory::with_capacity(given.chunks.len()))?, 0);
    for texts in &given.chunks {
        let run = || memory::run_caught(|| convert(texts, &result));
        let converted = py.detach(run).unwrap_or_else(|refused| Err((0, refused.into())));
        let chunk = converted.map_err(|(row, error)| row_error((before + row, error)))?;
        before += texts.len();
        made.push(chunk);
    }
    match made.pop() {
        Some(array) if !given.is_stream => Ok(Bound::new(py, PyArrowArray(array))?.into_any()),
        last => {
            made.extend(last);
            Ok(Bound::new(py, PyArrowStream::new(result, made))?.into_any())
        }
    }
}

/// Returns the type of the lists of ids. The offsets of the lists have 64 bits if the texts have offsets of 64 bits or
/// are views, and otherwise 32 bits.
fn list_type(texts: &DataType, is_narrow: bool) -> DataType {
    let id = if is_narrow { DataType::UInt16 } else { DataType::UInt32 };
    let field = Arc::new(Field::new_list_field(id, true));
    match texts {
        DataType::Utf8 | DataType::Binary | DataType::Null => DataType::List(field),
        _ => DataType::LargeList(field),
    }
}

fn is_large(list: &DataType) -> bool {
    matches!(list, DataType::LargeList(_))
}

fn lists<T: ArrowPrimitiveType<Native: Id>, O: OffsetSizeTrait>(
    batch: Batch<T::Native>,
    nulls: Option<NullBuffer>,
) -> RowResult<ArrayData> {
    let is_wide = batch.offsets.last().is_some_and(|&offset| O::from_usize(offset as usize).is_none());
    let narrowed = batch.offsets.iter().map(|&offset| O::usize_as(offset as usize)).checked_collect();
    let offsets = Some(narrowed).filter(|_| !is_wide).ok_or_else(|| {
        let message =
            "an array of string or binary has more than 2^31 - 1 ids; cast the array to large_string or large_binary";
        (0, Error::Argument(message.into()))
    })?;
    let ids = PrimitiveArray::<T>::new(batch.ids.into(), None);
    let field = Arc::new(Field::new_list_field(T::DATA_TYPE, true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    Ok(GenericListArray::new(field, offsets, Arc::new(ids), nulls).into_data())
}

fn null_buffer(texts: &Texts) -> Option<NullBuffer> {
    let count = texts.slices().len();
    (!texts.nulls().is_empty()).then(|| {
        let mut bits = memory::zeroed::<u8>(count.div_ceil(8));
        for (row, text) in texts.slices().iter().enumerate() {
            bits[row / 8] |= u8::from(text.is_some()) << (row % 8);
        }
        NullBuffer::new(BooleanBuffer::new(Buffer::from_vec(bits), 0, count))
    })
}

/// Adds the classes to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    objects::add_class::<PyArrowArray>(module)?;
    objects::add_class::<PyArrowStream>(module)
}
