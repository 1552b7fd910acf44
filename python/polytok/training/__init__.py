"""Training: texts to vocabularies, of every kind.

A kind is a class in a module of its own (base.py has the table and the interface). inputs.py and reading.py define the
possible inputs, counting.py counts words, work.py combines them. This package and `polytok.formats` do not know each
other: a trainer returns a Spec.
"""

from ..reading import Reading
from .base import KINDS, Kind, Trainer, kind_named
from .counting import Counts, Order
from .feeding import TrainingWarning
from .inputs import Inputs, TrainingReport
from .work import count_words, specs, train

__all__ = [
    "KINDS",
    "Counts",
    "Inputs",
    "Kind",
    "Order",
    "Reading",
    "Trainer",
    "TrainingReport",
    "TrainingWarning",
    "count_words",
    "kind_named",
    "specs",
    "train",
]
