"""U+2581, LOWER ONE EIGHTH BLOCK, which SentencePiece and the formats that follow it write for a space."""

SPACE_MARK = "\u2581"
SPACE_MARK_BYTES = SPACE_MARK.encode()
