"""U+2581, LOWER ONE EIGHTH BLOCK: SentencePiece writes it for a space, and so do the formats that follow it."""

SPACE_MARK = "\u2581"
SPACE_MARK_BYTES = SPACE_MARK.encode()
