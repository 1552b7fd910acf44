"""Tokenizes corpora of any size to dataset folders, in jobs that can be resumed, and memory-maps the folders."""

from .counting import count_words
from .dataset import Dataset, TokenLocation, open
from .export import export
from .lookup import StoredDocument, read_documents, sample
from .manifest import Manifest
from .mapped import MappedShard
from .merge import merge
from .mixing import write_mixture
from .mixture import Mixture, MixtureItem, mix
from .mixture_report import MixtureReport, MixtureShare
from .options import DocumentOptions
from .origin import DocumentSource
from .packing import PackedWindow, PackedWindows
from .report import Report
from .status import JobStatus, job_status
from .tokenizing import tokenize
from .verify import Damage, verify
from .windows import Windows

__all__ = [
    "Damage",
    "Dataset",
    "DocumentOptions",
    "DocumentSource",
    "JobStatus",
    "Manifest",
    "MappedShard",
    "Mixture",
    "MixtureItem",
    "MixtureReport",
    "MixtureShare",
    "PackedWindow",
    "PackedWindows",
    "Report",
    "StoredDocument",
    "TokenLocation",
    "Windows",
    "count_words",
    "export",
    "job_status",
    "merge",
    "mix",
    "open",
    "read_documents",
    "sample",
    "tokenize",
    "verify",
    "write_mixture",
]
