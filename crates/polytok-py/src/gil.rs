//! Decides when a call releases the GIL, so that the other threads of Python can run.
//!
//! A long text is always encoded without the GIL. A shorter text is encoded without it if a processor can be free for
//! another thread. If as many threads as there are processors encode already, releasing the GIL would only admit more
//! threads, which take the processors and their caches from each other. Measured (2 processors, 64 threads, texts of
//! 4 KB): 64 threads that encode at the same time need three times the processor time per text.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::available_parallelism;
use std::time::Duration;

use polytok_core::error::Result;
use polytok_memory as memory;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::{MutexExt, PyOnceLock};

use crate::errors::to_python;

/// The length in bytes from which on a text is encoded without the GIL if a processor can be free. For a shorter text,
/// releasing the GIL costs more time than it saves.
const MIN_DETACHED_BYTES: usize = 1 << 10;
/// The length in bytes from which on a text is encoded and converted without the GIL, because this can take 0.1 ms.
const MIN_LONG_BYTES: usize = 1 << 16;

/// The number of threads that encode without the GIL. After a fork, the number in the child can be too high, because it
/// includes threads of the parent. The child then holds the GIL during more calls, and nothing else changes.
static DETACHED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Runs work of the engine without the GIL.
pub fn detach<T: Send>(py: Python<'_>, run: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    py.detach(|| memory::catch(run)).map_err(to_python)
}

/// Encodes or counts a text of some bytes; releases the GIL if this helps other threads.
pub fn run_detached<T: Send>(py: Python<'_>, bytes: usize, run: impl FnOnce() -> Result<T> + Send) -> PyResult<T> {
    let is_useful = || bytes >= MIN_LONG_BYTES || DETACHED_THREADS.load(Ordering::Relaxed) < processors();
    if bytes < MIN_DETACHED_BYTES || !is_useful() {
        return memory::catch(run).map_err(to_python);
    }
    let _thread = DetachedThread::new();
    detach(py, run)
}

/// Converts a text of some bytes; releases the GIL if the text is long.
pub fn run_detached_if_long<T: Send>(py: Python<'_>, bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    if bytes < MIN_LONG_BYTES { run() } else { py.detach(run) }
}

/// Locks the state of an object that several threads can use. While a thread waits for the lock, it does not have the
/// GIL, and in a Python without the GIL it does not delay the garbage collector, which stops all threads. So a thread
/// that has the lock can take the GIL again.
pub fn lock<'a, T>(py: Python<'_>, state: &'a Mutex<T>) -> MutexGuard<'a, T> {
    state.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner)
}

/// Lets another thread run if it has waited for the GIL for Python's switch interval, as the interpreter does between
/// two instructions. Also runs the handlers of signals, so Ctrl-C works.
///
/// Releasing the GIL for a moment would be worse: each release wakes the waiting thread and restarts its interval, but
/// this thread has taken the GIL again before the other thread runs.
pub fn let_other_threads_run(py: Python<'_>) -> PyResult<()> {
    static EMPTY_FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let create = || py.eval(c"lambda: None", None, None).map(Bound::unbind);
    call_or_hang(EMPTY_FUNCTION.get_or_try_init(py, create)?.bind(py))
}

/// Calls a function. If the process ends meanwhile, the thread hangs until it has ended.
///
/// Before version 3.14, Python ends a daemon thread that takes the GIL after the main thread has ended, by unwinding its
/// stack. Rust aborts the process when its functions are unwound in this way, so the stack must not be unwound further.
fn call_or_hang(function: &Bound<'_, PyAny>) -> PyResult<()> {
    type CallNoArgs = unsafe extern "C" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;
    type UnwindingCallNoArgs = unsafe extern "C-unwind" fn(*mut ffi::PyObject) -> *mut ffi::PyObject;
    // The black box hides the function from the compiler, which would know that its declaration cannot be unwound.
    let call = std::hint::black_box(ffi::PyObject_CallNoArgs as CallNoArgs);
    // SAFETY: both types of functions are called in the same way; the second can also be unwound.
    let call = unsafe { std::mem::transmute::<CallNoArgs, UnwindingCallNoArgs>(call) };
    let hang = HangWhenUnwound;
    // SAFETY: the thread has the GIL, and the function is a Python object.
    let result = unsafe { call(function.as_ptr()) };
    std::mem::forget(hang);
    // SAFETY: the result is a new reference, or null with an exception.
    unsafe { Bound::from_owned_ptr_or_err(function.py(), result) }.map(drop)
}

/// Lets the thread sleep forever when it is dropped.
struct HangWhenUnwound;

impl Drop for HangWhenUnwound {
    fn drop(&mut self) {
        loop {
            std::thread::sleep(Duration::from_secs(3600));
        }
    }
}

/// A thread that is counted in `DETACHED_THREADS` while this value exists.
struct DetachedThread;

impl DetachedThread {
    fn new() -> DetachedThread {
        DETACHED_THREADS.fetch_add(1, Ordering::Relaxed);
        DetachedThread
    }
}

impl Drop for DetachedThread {
    fn drop(&mut self) {
        DETACHED_THREADS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// The number of processors that this process can use.
fn processors() -> usize {
    static PROCESSORS: OnceLock<usize> = OnceLock::new();
    *PROCESSORS.get_or_init(|| available_parallelism().map_or(1, NonZero::get))
}
