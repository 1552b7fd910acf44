"""The normalizer's step of the options: rules by name or of a file, as a compiled character map."""

from __future__ import annotations

from ...spec import SentencePieceNormalize
from .options import Options


def normalizer(options: Options) -> SentencePieceNormalize:
    """What is done to texts, in training and afterwards."""
    return SentencePieceNormalize(
        charsmap=_charsmap(options),
        add_dummy_prefix=options.add_dummy_prefix,
        remove_extra_whitespaces=options.remove_extra_whitespaces,
        whitespace_as_suffix=options.treat_whitespace_as_suffix,
    )


def denormalizer(options: Options) -> SentencePieceNormalize | None:
    """What is done to decoded texts."""
    return None


def _charsmap(options: Options) -> bytes:
    if options.precompiled_charsmap is not None:
        return options.precompiled_charsmap
    if options.normalization_rule_name == "identity":
        return b""
    import sentencepiece

    return _blob(sentencepiece, options.normalization_rule_name)


def _blob(sp, name):
    import io

    out = io.BytesIO()
    sp.SentencePieceTrainer.train(
        sentence_iterator=iter(["a b"]), model_writer=out, model_type="char", vocab_size=10, normalization_rule_name=name, minloglevel=2
    )
    from polytok.formats import sentencepiece as f
    from polytok.formats.base import ReadOptions

    return f.read(out.getvalue(), ReadOptions()).normalize[0].charsmap
