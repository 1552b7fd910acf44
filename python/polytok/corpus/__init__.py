"""Corpora of any size into tokens: planned, run, resumed, and opened as mapped datasets."""
