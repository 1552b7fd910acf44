"""Trains vocabularies of all kinds from texts.

Each kind of vocabulary has a trainer class in its own module; base.py has their table and interface. inputs.py and
reading.py read the inputs, counting.py counts words, and work.py combines these parts. A trainer returns a Spec, so
this package and `polytok.formats` do not depend on each other.
"""

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
    "Trainer",
    "TrainingReport",
    "TrainingWarning",
    "count_words",
    "kind_named",
    "specs",
    "train",
]
