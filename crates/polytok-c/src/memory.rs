//! Arguments and results as pointers: reads arrays of the caller, and lends or gives arrays to the caller.

use std::ffi::{CStr, c_char};
use std::ptr;

use polytok_core::error::{Error, Result};

/// Ids that the caller owns. `polytok_ids_free` frees them.
#[repr(C)]
#[derive(Debug)]
pub struct PolytokIds {
    /// The ids; null if there are none.
    pub data: *mut u32,
    /// The number of ids.
    pub len: usize,
}

/// Bytes that the caller owns. `polytok_bytes_free` frees them. They do not end with a NUL.
#[repr(C)]
#[derive(Debug)]
pub struct PolytokBytes {
    /// The bytes; null if there are none.
    pub data: *mut u8,
    /// The number of bytes.
    pub len: usize,
}

/// Frees ids, and sets them to no ids, so that a second call does nothing. `ids` can be null.
///
/// # Safety
///
/// `ids` must be null, or must point to no ids or to ids that this library returned and that were not changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_ids_free(ids: *mut PolytokIds) {
    // SAFETY: the caller's promise.
    if let Some(ids) = unsafe { ids.as_mut() } {
        // SAFETY: as above; the fields are reset, so that the ids are not freed twice.
        unsafe { take_back(&mut ids.data, &mut ids.len) };
    }
}

/// Frees bytes, and sets them to no bytes, so that a second call does nothing. `bytes` can be null.
///
/// # Safety
///
/// `bytes` must be null, or must point to no bytes or to bytes that this library returned and that were not changed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn polytok_bytes_free(bytes: *mut PolytokBytes) {
    // SAFETY: the caller's promise.
    if let Some(bytes) = unsafe { bytes.as_mut() } {
        // SAFETY: as above; the fields are reset, so that the bytes are not freed twice.
        unsafe { take_back(&mut bytes.data, &mut bytes.len) };
    }
}

/// Gives an array to the caller, as a pointer and a length.
pub fn give<T>(items: Vec<T>) -> (*mut T, usize) {
    let len = items.len();
    if len == 0 {
        return (ptr::null_mut(), 0);
    }
    (Box::into_raw(items.into_boxed_slice()).cast(), len)
}

/// Frees an array that `give` returned.
///
/// # Safety
///
/// The pointer is null, or `give` returned the pointer and the length, and nothing has freed them.
unsafe fn take_back<T>(data: &mut *mut T, len: &mut usize) {
    let (data, len) = (std::mem::replace(data, ptr::null_mut()), std::mem::take(len));
    if !data.is_null() {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(data, len)) });
    }
}

/// Reads an array argument. A null pointer is an empty array if the length is 0.
///
/// # Safety
///
/// The pointer is null or points to `len` items, which do not change while the result is in use.
pub unsafe fn array<'a, T>(name: &str, data: *const T, len: usize) -> Result<&'a [T]> {
    if len == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(null_error(name));
    }
    if !data.is_aligned() || len > isize::MAX as usize / size_of::<T>() {
        return Err(Error::Argument(format!("{name} is not an array of {len} items")));
    }
    // SAFETY: the pointer is not null, aligned, and by the caller's promise points to `len` items.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// Reads an argument that points to an object.
///
/// # Safety
///
/// The pointer is null or points to an object that lives while the result is in use.
pub unsafe fn object<'a, T>(name: &str, data: *const T) -> Result<&'a T> {
    // SAFETY: the caller's promise.
    unsafe { data.as_ref() }.ok_or_else(|| null_error(name))
}

/// Reads an argument to which a function writes a result.
///
/// # Safety
///
/// The pointer is null or points to memory for a `T` that nothing else uses during the call.
pub unsafe fn result<'a, T>(name: &str, data: *mut T, start_value: T) -> Result<&'a mut T> {
    if data.is_null() {
        return Err(null_error(name));
    }
    // SAFETY: the pointer is valid for writing by the caller's promise. The memory can be uninitialized, so a value is
    // written before there is a reference.
    unsafe {
        data.write(start_value);
        Ok(&mut *data)
    }
}

/// Reads an argument that is a text with a NUL at its end.
///
/// # Safety
///
/// The pointer is null or points to bytes that end with a NUL and do not change while the result is in use.
pub unsafe fn text<'a>(name: &str, data: *const c_char) -> Result<&'a str> {
    if data.is_null() {
        return Err(null_error(name));
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(data) };
    bytes.to_str().map_err(|_| Error::Argument(format!("{name} is not UTF-8; pass UTF-8")))
}

fn null_error(name: &str) -> Error {
    Error::Argument(format!("{name} is null; pass a pointer to it"))
}
