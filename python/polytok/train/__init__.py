"""Texts to vocabularies."""
