"""The tools of tokenizers 0.23: tokenizers.tools."""

from .visualizer import Annotation, EncodingVisualizer

__all__ = ["Annotation", "EncodingVisualizer"]
