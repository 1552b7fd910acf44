//! The status that functions return, and the message of the last error of each thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use polytok_core::error::Error;

/// The result of a call. If it is not `POLYTOK_STATUS_OK`, `polytok_error_message` returns what is wrong, and the
/// results of the call are null, zero or empty.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolytokStatus {
    /// The call has succeeded.
    Ok = 0,
    /// An argument is null, is not UTF-8 or is out of its range.
    Argument = 1,
    /// The bytes of a file do not follow its format.
    Format = 2,
    /// The vocabulary and the options of a tokenizer do not fit together.
    Spec = 3,
    /// The tokenizer cannot encode this text.
    Encode = 4,
    /// The text contains a special token that is not allowed.
    Special = 5,
    /// An id is not in the vocabulary.
    Id = 6,
    /// The system has refused memory.
    Memory = 7,
    /// An internal error, which should be reported. A stream whose call returns this status must be freed.
    Internal = 8,
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// Returns the message of the last call that failed in this thread, in UTF-8: what is wrong, where, and what to do next.
/// The text is valid until the next call in this thread fails. If no call has failed, the text is empty.
#[unsafe(no_mangle)]
pub extern "C" fn polytok_error_message() -> *const c_char {
    MESSAGE.with_borrow(|message| message.as_ptr())
}

/// Runs the body of a function. Converts an error or a panic to a status, and stores the message.
pub fn run(body: impl FnOnce() -> Result<(), Error>) -> PolytokStatus {
    let (status, message) = match catch_unwind(AssertUnwindSafe(|| polytok_memory::catch(body))) {
        Ok(Ok(())) => return PolytokStatus::Ok,
        Ok(Err(error)) => (status_of(&error), error.to_string()),
        Err(_) => (PolytokStatus::Internal, "an internal error of polytok: please report it".to_owned()),
    };
    MESSAGE.set(CString::new(message.replace('\0', "\\0")).unwrap_or_default());
    status
}

fn status_of(error: &Error) -> PolytokStatus {
    match error {
        Error::Format(_) | Error::File(_) => PolytokStatus::Format,
        Error::Spec(_) => PolytokStatus::Spec,
        Error::Encode(_) => PolytokStatus::Encode,
        Error::Special(_) => PolytokStatus::Special,
        Error::Id(_) => PolytokStatus::Id,
        Error::Argument(_) => PolytokStatus::Argument,
        Error::Memory(_) => PolytokStatus::Memory,
        Error::Interrupted => PolytokStatus::Internal,
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;

    use super::*;

    #[test]
    fn a_panic_becomes_a_status_with_a_message() {
        assert_eq!(run(|| panic!("x")), PolytokStatus::Internal);
        // SAFETY: the pointer is valid until the next error of this thread.
        let message = unsafe { CStr::from_ptr(polytok_error_message()) };
        assert!(message.to_str().unwrap().contains("internal error"));
        assert_eq!(run(|| Err(Error::Format("a\0b".into()))), PolytokStatus::Format);
        // SAFETY: as above.
        let message = unsafe { CStr::from_ptr(polytok_error_message()) };
        assert_eq!(message.to_str().unwrap(), "a\\0b");
        assert_eq!(run(|| Ok(())), PolytokStatus::Ok);
    }
}
