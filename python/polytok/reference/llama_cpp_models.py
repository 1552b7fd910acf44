"""llama.cpp's models (llama-vocab.cpp), which convert a text to ids. A token of any type is found by its text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

from polytok.byte_level import CHARACTERS
from polytok.formats.gguf_pretokenizers import EXPRESSIONS, PreTokenizer
from polytok.reference.llama_cpp_split import split
from polytok.reference.llama_cpp_unicode import REPLACEMENT, WHITE, category, code_points, first_of_nfd, lower, utf8
from polytok.space_mark import SPACE_MARK_BYTES

Ids = Mapping[bytes, int]
_IDEOGRAPHS = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F)),
    *((0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
)


def spm(ids: Ids, scores: Sequence[float], text: bytes) -> list[int]:
    """Encodes by merging: repeatedly merges the pair whose concatenation scores best.

    Symbols that are not tokens in the end are encoded byte by byte.
    """
    symbols, at = [], 0
    while at < len(text):
        length = (1, 2, 3, 4)[max(0, (text[at] >> 4) - 12 + (text[at] < 0xD0) * (text[at] >= 0xC0))]
        symbols.append(text[at : at + length])
        at += length
    while True:
        pairs = [a + b for a, b in pairwise(symbols)]
        candidates = [(-scores[ids[pair]], at) for at, pair in enumerate(pairs) if pair in ids]
        if not candidates:
            break
        at = min(candidates)[1]
        symbols[at : at + 2] = [pairs[at]]
    return [id for symbol in symbols for id in ([ids[symbol]] if symbol in ids else map(byte_id_lookup(ids), symbol))]


def byte_id_lookup(ids: Ids) -> Callable[[int], int]:
    """Returns a function from a byte to the id of its token: ``<0xHH>`` if present, else the byte itself."""
    return lambda byte: ids[b"<0x%02X>" % byte] if b"<0x%02X>" % byte in ids else ids[bytes([byte])]


def bpe(ids: Ids, ranks: Mapping[tuple[bytes, bytes], int], pre: PreTokenizer, text: bytes) -> list[int]:
    """Encodes each piece of the split text by merging: repeatedly merges the listed pair that comes first."""
    result: list[int] = []
    for codes in split(EXPRESSIONS[pre.expressions], code_points(text)):
        raw = b"".join(map(utf8, codes))
        word = raw.decode("utf-8", "surrogatepass") if pre.raw else "".join(CHARACTERS[byte] for byte in raw)
        whole_word = word.encode("utf-8", "surrogatepass")
        is_one_token = whole_word in ids and (pre.ignore_merges or (pre.newline_tokens and not word.strip("\n")))
        symbols = [whole_word] if is_one_token else [character.encode("utf-8", "surrogatepass") for character in word]
        for symbol in _merge(symbols, ranks):
            result += [ids[symbol]] if symbol in ids else _byte_ids(symbol, ids, pre.raw)
    return result


def _merge(symbols: list[bytes], ranks: Mapping[tuple[bytes, bytes], int]) -> list[bytes]:
    while True:
        pairs = enumerate(pairwise(symbols))
        candidates = [(ranks[pair], at) for at, pair in pairs if pair in ranks]
        if not candidates:
            return symbols
        at = min(candidates)[1]
        symbols[at : at + 2] = [symbols[at] + symbols[at + 1]]


def _byte_ids(symbol: bytes, ids: Ids, raw: bool) -> list[int]:
    names = [b"<0x%02X>" % byte if raw else bytes([byte]) for byte in symbol]
    return [ids[name] for name in names if name in ids]


def whitespace(
    ids: Ids, ranks: Mapping[tuple[bytes, bytes], int], pre: PreTokenizer, lowercase: bool, text: bytes
) -> list[int]:
    """Encodes the words between white space by BPE; the white space itself is lost."""
    words = [b""]
    for code in code_points(text):
        if code in WHITE:
            words.append(b"")
        else:
            words[-1] += utf8(lower(code) if lowercase else code)
    return [id for word in words if word for id in bpe(ids, ranks, pre, word)]


def wpm(ids: Ids, unknown: int, text: bytes, *, lowercase: bool, strip_accents: bool) -> list[int]:
    """Encodes words: repeatedly takes the longest token that is a prefix of the word's remainder.

    A word that cannot be covered is unknown as a whole.
    """
    longest = max(map(len, ids))
    result = []
    for word in _split_words(text, lowercase, strip_accents):
        remainder, word_ids = SPACE_MARK_BYTES + word, []
        while remainder:
            length = next((n for n in range(min(len(remainder), longest + 1), 0, -1) if remainder[:n] in ids), 0)
            if not length:
                word_ids = [unknown]
                break
            word_ids.append(ids[remainder[:length]])
            remainder = remainder[length:]
        result += word_ids
    return result


def _split_words(text: bytes, lowercase: bool, strip_accents: bool) -> list[bytes]:
    words = [b""]
    for code in code_points(text):
        code = first_of_nfd(code) if strip_accents and code < 0x110000 else code
        if code in WHITE:
            words.append(b"")
            continue
        kind = category(code)
        if code in (0, REPLACEMENT) or kind == "C" or (strip_accents and kind == "M"):
            continue
        word_part = utf8(lower(code) if lowercase else code)
        is_ideograph = any(first <= code <= last for first, last in _IDEOGRAPHS)
        if kind == "P" or (code < 0x7F and kind == "S") or is_ideograph:
            words += [word_part, b""]
        else:
            words[-1] += word_part
    return [word for word in words if word]


def rwkv(ids: Ids, unknown: int | None, text: bytes) -> list[int]:
    """Encodes a text: repeatedly takes the longest token that is a prefix of the remainder."""
    longest = max(map(len, ids), default=0)
    result, at = [], 0
    while at < len(text):
        length = next((n for n in range(longest, 0, -1) if text[at : at + n] in ids and at + n <= len(text)), 0)
        id = ids[text[at : at + length]] if length else unknown
        result.append(-1 if id is None else id)
        at += length or 1
    return result


def unescape(text: bytes) -> bytes:
    r"""Converts RWKV's notation to bytes: ``\t``, ``\n``, ``\r``, ``\x00``; any other escaped character is itself."""
    out, at = b"", 0
    while at < len(text):
        if text[at] != 0x5C:
            out, at = out + text[at : at + 1], at + 1
        elif text[at + 1 : at + 2] == b"x":
            out, at = out + bytes.fromhex(text[at + 2 : at + 4].decode()), at + 4
        else:
            out += {b"t": b"\t", b"n": b"\n", b"r": b"\r"}.get(text[at + 1 : at + 2], text[at + 1 : at + 2])
            at += 2
    return out


def plamo2(ids: Ids, scores: Sequence[float], usable_ids: set[int], text: bytes) -> list[int]:
    """Encodes by the cheapest path over characters, from the end, by scores in ten thousandths.

    Of paths with equal costs the one with the longest next token counts.
    """
    codes = code_points(text)
    codes = codes[1:] if codes[:1] == [0xFEFF] else codes
    longest = max((len(code_points(piece)) for piece in ids), default=0)
    costs = [0] * (len(codes) + 1)
    best: list[tuple[int, int | None]] = [(1, None)] * len(codes)
    for at in reversed(range(len(codes))):
        steps: list[tuple[int, int, int | None]] = []
        for length in range(min(longest, len(codes) - at), 0, -1):
            id = ids.get(b"".join(map(utf8, codes[at : at + length])))
            if id in usable_ids and id is not None and _to_ten_thousandths(scores[id]) > -20_000_000:
                steps.append((costs[at + length] - _to_ten_thousandths(scores[id]), length, id))
        steps.append((costs[at + 1] + 10_000_000, 1, None))
        costs[at], length, id = min(steps, key=lambda step: step[0])
        best[at] = length, id
    result, at = [], 0
    while at < len(codes):
        length, id = best[at]
        result += [ids[b"<0x%02X>" % byte] for byte in utf8(codes[at])] if id is None else [id]
        at += length
    return result


def _to_ten_thousandths(score: float) -> int:
    """Returns a score in ten thousandths, rounded like C's ``round``: halves away from zero."""
    magnitude = abs(score * 1e4)
    rounded = int(magnitude) + (magnitude - int(magnitude) >= 0.5)
    return rounded if score > 0 else -rounded
