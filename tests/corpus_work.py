"""Defines a test task without a tokenizer: it writes a file, slowly on request, and fails or dies on request."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np

from polytok import ArgumentError
from polytok.corpus.journal import Journal, task_file_stem
from polytok.corpus.run.base import ProgressFunction, TaskFunction
from polytok.corpus.storage import open_storage
from polytok.corpus.write import OutputFile

WORK = "corpus_work:prepare"

# The message for which a task raises a MemoryError.
REFUSED = "the system refused memory"


def prepare(setup: dict[str, Any]) -> TaskFunction:
    """Returns the function that runs a task."""
    place = open_storage(setup["storage"])

    def do_task(description: dict[str, Any], report_progress: ProgressFunction) -> dict[str, Any]:
        number = description["number"]
        with place.output_folder() as folder:
            file = OutputFile(folder / f"{task_file_stem(number)}.bin")
            for part in range(description.get("writes", 1)):
                file.write(np.full(1000, number + part, dtype=np.uint8))
                report_progress(1, 2, 3)
                time.sleep(description.get("seconds", 0))
            _fail_if_requested(folder, number)
            shard = file.finish()
            file.keep()
        record = {"number": number, "documents": 1, "files": [shard._asdict()]}
        Journal(place).write_record(setup["job"], record)
        return record

    return do_task


def _fail_if_requested(folder: Path, number: int) -> None:
    """Fails on request: file errorN next to the folder has an error message, file deathsN a character per death."""
    error, deaths = (folder.parent / f"{what}{number}" for what in ("error", "deaths"))
    if error.exists():
        message = error.read_text()
        raise MemoryError(message) if message == REFUSED else ArgumentError(message)
    if deaths.exists() and (remaining_deaths := deaths.read_text()):
        deaths.write_text(remaining_deaths[1:])
        os.kill(os.getpid(), signal.SIGKILL)
