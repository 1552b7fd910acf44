//! Reports progress to a Python function.

use std::time::{Duration, Instant};

use polytok_core::error::{Error, Result};
use polytok_core::train::progress::Progress;
use polytok_memory as memory;
use pyo3::prelude::*;

use crate::errors::to_python;

/// The shortest time between two calls of the Python function.
const CALL_INTERVAL: Duration = Duration::from_millis(50);

/// Calls a Python function (stage, done, of) and checks for Ctrl-C, up to 20 times a second. The reporter stores an
/// exception of the function, because the engine's errors carry no Python objects.
pub struct Reporter {
    function: Option<Py<PyAny>>,
    /// The Python function that is called for each step.
    each: Option<Py<PyAny>>,
    last: Option<(&'static str, Instant)>,
    raised: Option<PyErr>,
}

impl Reporter {
    /// Creates a reporter. Without a function, the reporter only checks for Ctrl-C.
    pub fn new(function: Option<Py<PyAny>>) -> Reporter {
        Reporter::with_each(function, None)
    }

    /// Creates a reporter; the second function is called for each step.
    pub fn with_each(function: Option<Py<PyAny>>, each: Option<Py<PyAny>>) -> Reporter {
        Reporter { function, each, last: None, raised: None }
    }

    /// Runs long work without the GIL. If the Python function raises an exception, returns this exception.
    pub fn run<T: Send>(mut self, py: Python<'_>, work: impl FnOnce(&mut Reporter) -> Result<T> + Send) -> PyResult<T> {
        let outcome = py.detach(|| memory::catch(|| work(&mut self)));
        outcome.map_err(|error| match (error, self.raised) {
            (Error::Interrupted, Some(raised)) => raised,
            (error, _) => to_python(error),
        })
    }

    /// Calls the Python function for a step, if the reporter has such a function.
    pub fn report_each(&mut self, call: impl FnOnce(Python<'_>, &Py<PyAny>) -> PyResult<()>) -> Result<()> {
        let outcome = self.each.as_ref().map_or(Ok(()), |each| Python::attach(|py| call(py, each)));
        self.store_exception(outcome)
    }

    /// Stores a Python exception, and returns `Error::Interrupted` instead of the exception.
    fn store_exception(&mut self, outcome: PyResult<()>) -> Result<()> {
        outcome.map_err(|raised| {
            self.raised = Some(raised);
            Error::Interrupted
        })
    }

    /// Checks for Ctrl-C and calls the function.
    fn call(&mut self, stage: &'static str, done: u64, of: u64) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            self.function.as_ref().map_or(Ok(()), |function| function.call1(py, (stage, done, of)).map(drop))
        })
    }
}

impl Progress for Reporter {
    fn report(&mut self, stage: &'static str, done: u64, of: u64) -> Result<()> {
        let is_due =
            self.last.is_none_or(|(before, at)| before != stage || done == of || at.elapsed() >= CALL_INTERVAL);
        if !is_due {
            return Ok(());
        }
        self.last = Some((stage, Instant::now()));
        let outcome = self.call(stage, done, of);
        self.store_exception(outcome)
    }
}
