//! Decides when a call releases the GIL, so that the other threads of Python can run.
//!
//! A long text is always encoded without the GIL. A shorter text is encoded without it if a processor can be free for
//! another thread. If as many threads as there are processors encode already, releasing the GIL would only admit more
//! threads, which take the processors and their caches from each other. Measured (2 processors, 64 threads, texts of
//! 4 KB): 64 threads that encode at the same time need three times the processor time per text.

use std::num::NonZero;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// The length in bytes from which on a text is encoded without the GIL if a processor can be free. For a shorter text,
/// releasing the GIL costs more time than it saves.
const MIN_DETACHED_BYTES: usize = 1 << 10;
/// The length in bytes from which on a text is encoded and converted without the GIL, because this can take 0.1 ms.
const MIN_LONG_BYTES: usize = 1 << 16;

/// The number of threads that encode without the GIL. After a fork, the number in the child can be too high, because it
/// includes threads of the parent. The child then holds the GIL during more calls, and nothing else changes.
static DETACHED_THREADS: AtomicUsize = AtomicUsize::new(0);

/// Encodes or counts a text of some bytes; releases the GIL if this helps other threads.
pub fn run_detached<T: Send>(py: Python<'_>, bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    let is_useful = || bytes >= MIN_LONG_BYTES || DETACHED_THREADS.load(Ordering::Relaxed) < processors();
    if bytes < MIN_DETACHED_BYTES || !is_useful() {
        return run();
    }
    let _thread = DetachedThread::new();
    py.detach(run)
}

/// Converts a text of some bytes; releases the GIL if the text is long.
pub fn run_detached_if_long<T: Send>(py: Python<'_>, bytes: usize, run: impl FnOnce() -> T + Send) -> T {
    if bytes < MIN_LONG_BYTES { run() } else { py.detach(run) }
}

/// Lets another thread run if it has waited for the GIL for Python's switch interval, as the interpreter does between
/// two instructions. Also runs the handlers of signals, so Ctrl-C works.
///
/// Releasing the GIL for a moment would be worse: each release wakes the waiting thread and restarts its interval, but
/// this thread has taken the GIL again before the other thread runs.
pub fn let_other_threads_run(py: Python<'_>) -> PyResult<()> {
    static EMPTY_FUNCTION: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let create = || py.eval(c"lambda: None", None, None).map(Bound::unbind);
    EMPTY_FUNCTION.get_or_try_init(py, create)?.call0(py).map(drop)
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
