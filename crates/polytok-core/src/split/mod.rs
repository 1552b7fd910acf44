//! Text to pieces by the split patterns that tokenizers use.
