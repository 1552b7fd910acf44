"""Calls of transformers' fast tokenizers, made on a tokenizer of its own and on one that runs on polytok.

A program of its own too: ``python tests/transformers_bank.py FILE...`` compares the files, in an environment with any
version of transformers, and prints a JSON object with ``calls`` and ``different``.
"""

from __future__ import annotations

import copy
import json
import pickle
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

Call = Callable[[Any], Any]

KNOWN = {("4", stem, "added tokens") for stem in ("bert_base_cased", "clip_base", "llama2")}
"""The differences that docs/from-transformers.md names: tokenizers 0.22, which transformers 4 needs, decodes added
tokens that are not special otherwise than 0.23."""

TEXTS = (
    "Hello, world! It's 12345 o'clock.",
    "",
    " ",
    "  two  spaces\n\nand\tlines \r\n",
    "Größe naïve café e\u0301 한국어 日本語 हिन्दी 😀👩\u200d👩\u200d👧",
    "a" * 70,
    "the </s> and <|endoftext|> and [SEP] <s> tokens",
)
PAIRS = (("How are you?", "Fine, thanks."), ("a b c d e f g h i j", "x y"), ("Größe 한국어", "<|endoftext|> 😀 done"))
WORDS = (["Hello", ",", "wide", "world"], ["한국어", "naïve", "x1"])
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>"
    "{% if m.role == 'assistant' %}{% generation %}{{ m.content }}{% endgeneration %}"
    "{% else %}{{ m.content }}{% endif %}"
    "\n{% endfor %}"
)
CHAT = [
    {"role": "user", "content": "What is <|endoftext|> 2+2?"},
    {"role": "assistant", "content": "It's 4. 😀"},
    {"role": "user", "content": "Größe?"},
]


def encoding_facts(encoding: Any) -> Any:
    """Returns all members of an Encoding."""
    positions = range(len(encoding))
    words = sorted({word for word in encoding.word_ids if word is not None})[:5]
    return {
        "ids": encoding.ids,
        "type_ids": encoding.type_ids,
        "attention_mask": encoding.attention_mask,
        "special_tokens_mask": encoding.special_tokens_mask,
        "offsets": [tuple(pair) for pair in encoding.offsets],
        "tokens": encoding.tokens,
        "word_ids": encoding.word_ids,
        "sequence_ids": encoding.sequence_ids,
        "n_sequences": encoding.n_sequences,
        "to_sequence": [encoding.token_to_sequence(i) for i in positions],
        "to_word": [encoding.token_to_word(i) for i in positions],
        "to_chars": [encoding.token_to_chars(i) for i in positions],
        "word_tokens": [encoding.word_to_tokens(word, 0) for word in words],
        "word_chars": [encoding.word_to_chars(word, 0) for word in words],
        "char_token": [encoding.char_to_token(i, 0) for i in range(12)],
        "char_word": [encoding.char_to_word(i, 0) for i in range(12)],
        "overflowing": [encoding_facts(part) for part in encoding.overflowing],
    }


def batch_facts(batch: Any) -> Any:
    """Returns the data of a BatchEncoding, and its encodings."""
    data = {key: value.tolist() if hasattr(value, "tolist") else value for key, value in batch.data.items()}
    encodings = batch.encodings or []
    answers = []
    for index, encoding in enumerate(encodings[:3]):
        answers.append(
            [
                batch.tokens(index),
                batch.word_ids(index),
                batch.sequence_ids(index),
                [batch.char_to_token(index, i) for i in range(6)],
                [batch.token_to_chars(index, i) for i in range(min(6, len(encoding)))],
            ]
        )
    return data, [encoding_facts(encoding) for encoding in encodings], answers


ALL = {
    "return_offsets_mapping": True,
    "return_special_tokens_mask": True,
    "return_token_type_ids": True,
    "return_attention_mask": True,
    "return_length": True,
}


def _calling(*args: Any, **kwargs: Any) -> Call:
    return lambda tokenizer: batch_facts(tokenizer(*args, **{**ALL, **kwargs}))


def _with_pad(call: Call) -> Call:
    def padded(tokenizer: Any) -> Any:
        if tokenizer.pad_token is None:
            tokenizer.add_special_tokens({"pad_token": "<pad-of-test>"})
        return call(tokenizer)

    return padded


def encode_calls() -> Iterator[tuple[str, Call]]:
    for index, text in enumerate(TEXTS):
        for special in (True, False):
            yield f"text {index} {special}", _calling(text, add_special_tokens=special)
        yield f"split special {index}", _calling(text, split_special_tokens=True)
        yield f"encode {index}", lambda t, text=text: t.encode(text)
        yield f"tokenize {index}", lambda t, text=text: (t.tokenize(text), t.tokenize(text, add_special_tokens=True))
        yield f"numpy {index}", lambda t, text=text: t(text, return_tensors="np")["input_ids"].tolist()
    for index, pair in enumerate(PAIRS):
        yield f"pair {index}", _calling(*pair)
        for strategy in ("longest_first", "only_first", "only_second"):
            for stride in (0, 2):
                options = {"max_length": 8, "truncation": strategy, "stride": stride}
                yield f"pair {index} {strategy} {stride}", _calling(*pair, **options, return_overflowing_tokens=True)
                yield f"pair {index} {strategy} {stride} bare", _calling(*pair, **options, add_special_tokens=False)
    yield "batch", _calling(list(TEXTS))
    yield "batch of pairs", _calling(list(PAIRS))
    yield "words", _calling(list(WORDS[0]), is_split_into_words=True)
    yield "batch of words", _calling([list(words) for words in WORDS], is_split_into_words=True)
    for length in (1, 6, 16):
        for stride in (0, 1)[: 1 if length == 1 else 2]:  # the original panics where nothing but the stride is left
            options = {"max_length": length, "truncation": True, "stride": stride, "return_overflowing_tokens": True}
            yield f"batch to {length} by {stride}", _calling(list(TEXTS), **options)
    for side in ("left", "right"):
        for padding in (True, "max_length"):
            for multiple in (None, 8):
                options = {"padding": padding, "max_length": 24, "truncation": True, "pad_to_multiple_of": multiple}
                yield f"padded {side} {padding} {multiple}", _with_pad(_side("padding_side", side, options))
        options = {"truncation": True, "max_length": 7, "stride": 1, "return_overflowing_tokens": True}
        yield f"truncated {side}", _side("truncation_side", side, options)


def _side(name: str, side: str, options: dict[str, Any]) -> Call:
    def call(tokenizer: Any) -> Any:
        setattr(tokenizer, name, side)
        result = batch_facts(tokenizer(list(TEXTS), **{**ALL, **options}))
        return result, tokenizer._tokenizer.padding, tokenizer._tokenizer.truncation

    return call


def _decoded(tokenizer: Any) -> Any:
    results: list[Any] = []
    rows = [tokenizer(text)["input_ids"] for text in TEXTS]
    for skip in (False, True):
        for clean in (None, True, False):
            options = {"skip_special_tokens": skip, "clean_up_tokenization_spaces": clean}
            results.append([tokenizer.decode(row, **options) for row in rows])
            results.append(tokenizer.batch_decode(rows, **options))
    results.append([tokenizer.decode(id) for id in range(0, 40)])
    results.append(tokenizer.decode([10**6, 3, 2**31]))
    results.append([tokenizer.convert_ids_to_tokens(row, skip_special_tokens=True) for row in rows])
    results.append([tokenizer.convert_tokens_to_string(tokenizer.convert_ids_to_tokens(row)) for row in rows])
    return results


def _streamed(tokenizer: Any) -> Any:
    """Decodes as vLLM and SGLang do: a stream begins after a prompt, and gets one id at a time, or several."""
    from tokenizers import decoders

    results = []
    for text in TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False)
        for cut in (0, 1, len(ids) // 2):
            for skip in (False, True):
                stream = decoders.DecodeStream(ids=ids[:cut], skip_special_tokens=skip)
                results.append([stream.step(tokenizer._tokenizer, id) for id in ids[cut:]])
        stream = decoders.DecodeStream(skip_special_tokens=True)
        results.append([stream.step(tokenizer._tokenizer, ids[i : i + 3]) for i in range(0, len(ids), 3)])
    return results


def _vocabulary(tokenizer: Any) -> Any:
    backend = tokenizer.backend_tokenizer
    pieces = ["a", "the", "Ġthe", "▁the", "##s", "<s>", "[CLS]", "no such piece"]
    return (
        tokenizer.get_vocab(),
        len(tokenizer),
        tokenizer.vocab_size,
        tokenizer.get_added_vocab(),
        {id: repr(token) for id, token in tokenizer.added_tokens_decoder.items()},
        tokenizer.all_special_tokens,
        tokenizer.all_special_ids,
        tokenizer.convert_tokens_to_ids(pieces),
        tokenizer.convert_ids_to_tokens([0, 1, 2, 50, 10**6 - 1]),
        tokenizer.num_special_tokens_to_add(False),
        tokenizer.num_special_tokens_to_add(True),
        backend.get_vocab_size(),
        type(backend.model).__name__,
        [
            type(getattr(backend, name)).__name__
            for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")
        ],
        [
            getattr(backend, name) and json.loads(getattr(backend, name).__getstate__())
            for name in ("normalizer", "pre_tokenizer", "post_processor", "decoder")
        ],
    )


def _with_tokens(tokenizer: Any) -> Any:
    from tokenizers import AddedToken

    counts = [
        tokenizer.add_tokens(["new1", "hello world", "the"]),
        tokenizer.add_tokens([AddedToken("stripped", lstrip=True, rstrip=True), AddedToken("Word", single_word=True)]),
        tokenizer.add_special_tokens({"additional_special_tokens": ["<ctl>", AddedToken("<x>", normalized=False)]}),
        tokenizer.add_tokens(["new1"]),
    ]
    text = "new1 hello world a  stripped  b Word sWord <ctl>the<x> THE"
    return counts, batch_facts(tokenizer(text, **ALL)), tokenizer.decode(tokenizer.encode(text)), len(tokenizer)


def _copied(tokenizer: Any) -> Any:
    copies = [copy.deepcopy(tokenizer), pickle.loads(pickle.dumps(tokenizer)), copy.copy(tokenizer)]
    tokenizer.add_tokens(["only-in-the-first"])
    return [(one.encode(text), len(one)) for one in copies[:2] for text in (*TEXTS, "only-in-the-first")]


def _pickled_batch(tokenizer: Any) -> Any:
    batch = tokenizer(list(TEXTS), max_length=6, truncation=True, return_overflowing_tokens=True)
    return batch_facts(pickle.loads(pickle.dumps(batch)))


def _saved(tokenizer: Any) -> Any:
    from transformers import AutoTokenizer

    tokenizer.add_tokens(["saved-token"])
    with tempfile.TemporaryDirectory() as folder:
        names = [Path(name).name for name in tokenizer.save_pretrained(folder)]
        document = json.loads((Path(folder) / "tokenizer.json").read_text(encoding="utf-8"))
        config = json.loads((Path(folder) / "tokenizer_config.json").read_text(encoding="utf-8"))
        again = AutoTokenizer.from_pretrained(folder)
        return sorted(names), document, config, [again.encode(text) for text in (*TEXTS, "saved-token x")]


def _trained(tokenizer: Any) -> Any:
    corpus = ["low lower lowest", "new newer newest", "wide wider widest"] * 4
    new = tokenizer.train_new_from_iterator(corpus, 300, show_progress=False)
    return sorted(new.get_vocab()), [new.tokenize(text) for text in corpus[:3]]


def _chat(**options: Any) -> Call:
    def call(tokenizer: Any) -> Any:
        tokenizer.chat_template = TEMPLATE
        result = tokenizer.apply_chat_template(CHAT, tokenize=True, return_dict=True, **options)
        return {key: list(value) for key, value in result.items()}

    return call


def _with_changes(tokenizer: Any) -> Any:
    """Assigns components, and changes one in place."""
    from tokenizers import normalizers, processors

    backend = tokenizer.backend_tokenizer
    results = [tokenizer.encode(text) for text in TEXTS[:3]]
    template = [("a", 5)]
    backend.post_processor = processors.TemplateProcessing(single="a $A", pair="a $A a $B:1", special_tokens=template)
    results += [tokenizer.encode(text) for text in TEXTS[:3]]
    old = backend.normalizer
    backend.normalizer = normalizers.Sequence([normalizers.Lowercase()] + ([old] if old else []))
    results += [tokenizer.encode(text) for text in TEXTS[:3]]
    step = backend.pre_tokenizer
    if hasattr(step, "add_prefix_space"):
        step.add_prefix_space = not step.add_prefix_space
    results += [tokenizer.encode(text) for text in TEXTS[:3]]
    return results, json.loads(backend.to_str())["pre_tokenizer"]


def other_calls() -> Iterator[tuple[str, Call]]:
    yield "decode", _decoded
    yield "stream", _streamed
    yield "vocabulary", _vocabulary
    yield "added tokens", _with_tokens
    yield "copies", _copied
    yield "pickled batch", _pickled_batch
    yield "saved", _saved
    yield "trained", _trained
    yield "changed components", _with_changes
    yield "chat", _chat()
    yield "chat with masks", _chat(return_assistant_tokens_mask=True, return_attention_mask=True)
    yield "chat truncated", _chat(max_length=9, truncation=True)
    yield "chat sanitized", _chat(sanitize_control_tokens=True)


def result_of(call: Call, tokenizer: Any) -> Any:
    """Returns what a call answers; for an error, its kind."""
    try:
        return call(tokenizer)
    except BaseException as error:  # the original panics with a BaseException
        return f"error {type(error).__name__}: {error}"


def is_same(theirs: Any, ours: Any) -> bool:
    """Compares two results. The messages of errors can differ, and the original can panic where polytok raises.

    polytok raises subclasses of Exception where the original raises Exception itself.
    """
    if isinstance(theirs, str) and theirs.startswith("error "):
        kind = theirs.split(":")[0]
        is_general = kind in ("error Exception", "error PanicException")
        return isinstance(ours, str) and ours.startswith("error " if is_general else kind)
    return bool(theirs == ours)


def differences(original: Any, ours: Any) -> tuple[int, list[str], list[str]]:
    """Makes each call on copies of both tokenizers; returns the number of calls, the calls with different results, and
    those that raise in both."""
    from polytok.compat.transformers import Backend

    count, different, raising = 0, [], []
    assert isinstance(ours._tokenizer, Backend)
    assert not isinstance(original._tokenizer, Backend)
    both = copy.deepcopy(original), copy.deepcopy(ours)  # truncation and padding stay set from call to call
    rows = [*((call, both) for call in encode_calls()), *((call, None) for call in other_calls())]
    for (name, call), pair in rows:
        left, right = (result_of(call, one) for one in pair or (copy.deepcopy(original), copy.deepcopy(ours)))
        count += 1
        if not is_same(left, right):
            different.append(f"{name}: {_first_difference(left, right)}")
        elif isinstance(left, str) and left.startswith("error "):
            raising.append(f"{name}: {left[:100]} / {str(right)[:100]}")
    return count, different, raising


def _first_difference(left: Any, right: Any, path: str = "") -> str:
    if type(left) is type(right) and isinstance(left, dict) and left.keys() == right.keys():
        parts: Any = ((key, left[key], right[key]) for key in left)
    elif isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)) and len(left) == len(right):
        parts = ((index, left[index], right[index]) for index in range(len(left)))
    else:
        return f"{path}: {left!r:.300} / {right!r:.300}"
    return next((_first_difference(a, b, f"{path}/{key}") for key, a, b in parts if a != b), path)


def compare_file(path: Path) -> tuple[int, list[str], list[str]]:
    """Compares the tokenizers of a tokenizer.json."""
    import transformers

    from polytok.compat.transformers import patch, unpatch

    def make() -> Any:
        document = json.loads(path.read_text(encoding="utf-8"))
        tokens = [token["content"] for token in document["added_tokens"]]
        ends = [text for text in ("</s>", "<|endoftext|>", "[SEP]", "<sep>") if text in tokens][:1]
        return transformers.PreTrainedTokenizerFast(
            tokenizer_file=str(path), **({"eos_token": ends[0]} if ends else {})
        )

    original = make()
    patch()
    try:
        return differences(original, make())
    finally:
        unpatch()


FOLDERS = {
    "20B_tokenizer": ("GPTNeoXTokenizerFast",),
    "bert_base_cased": ("BertTokenizerFast", "BertTokenizer", "DistilBertTokenizerFast", "PreTrainedTokenizerFast"),
    "clip_base": ("CLIPTokenizerFast", "PreTrainedTokenizerFast"),
    "gpt2": ("GPT2TokenizerFast", "GPT2Tokenizer", "Qwen2Tokenizer", "RobertaTokenizerFast", "PreTrainedTokenizerFast"),
    "gpt_neox": ("GPTNeoXTokenizerFast", "PreTrainedTokenizerFast"),
    "llama2": ("LlamaTokenizerFast", "LlamaTokenizer", "CodeLlamaTokenizerFast", "PreTrainedTokenizerFast"),
    "llama32_rebuilt": ("LlamaTokenizerFast", "Qwen2TokenizerFast", "PreTrainedTokenizerFast"),
    "mistral03": ("LlamaTokenizerFast", "PreTrainedTokenizerFast"),
    "modernbert": ("PreTrainedTokenizerFast",),
    "xlnet_base_cased": ("XLNetTokenizerFast", "PreTrainedTokenizerFast"),
}
"""For each file, the classes that its tokenizer_config.json names in turn: AutoTokenizer loads it by each."""

_NAMED_TOKENS = {
    "bos_token": ("<s>", "<|begin_of_text|>", "<|endoftext|>", "<|startoftext|>"),
    "eos_token": ("</s>", "<|end_of_text|>", "<|endoftext|>"),
    "unk_token": ("<unk>", "[UNK]", "<|endoftext|>"),
    "cls_token": ("[CLS]", "<cls>"),
    "sep_token": ("[SEP]", "<sep>"),
    "mask_token": ("[MASK]", "<mask>"),
    "pad_token": ("[PAD]", "<pad>"),
}


def write_folder(path: Path, cls: str, folder: Path) -> Path:
    """Writes the folder of a model that has this tokenizer.json and names this class."""
    data = path.read_bytes()
    texts = {token["content"] for token in json.loads(data)["added_tokens"]}
    known = {name: [text for text in choice if text in texts] for name, choice in _NAMED_TOKENS.items()}
    config: dict[str, Any] = {"tokenizer_class": cls, "model_max_length": 1024}
    config |= {name: found[0] for name, found in known.items() if found}
    if "Llama" in cls:
        config |= {"add_bos_token": True, "add_eos_token": True}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_bytes(data)
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def compare_folder(folder: Path) -> tuple[int, list[str], list[str]]:
    """Compares the tokenizers that AutoTokenizer loads, and those that it loads again after the other saved them."""
    from transformers import AutoTokenizer

    from polytok.compat.transformers import patched

    original = AutoTokenizer.from_pretrained(folder)
    with patched():
        ours = AutoTokenizer.from_pretrained(folder)
        count, different, raising = differences(original, ours)
    if type(original) is not type(ours):
        different.append(f"class: {type(original).__name__} / {type(ours).__name__}")
    for text in TEXTS:
        ids = original.encode(text)
        results = [(one.decode(ids), one.batch_decode([ids], skip_special_tokens=True)) for one in (original, ours)]
        count += 1
        if results[0] != results[1]:  # the calls above are made on copies, which lack methods that a class wraps
            different.append(f"decode without a copy {text!r}: {results!r:.300}")
    original.save_pretrained(folder / "theirs")
    ours.save_pretrained(folder / "ours")
    again = AutoTokenizer.from_pretrained(folder / "ours")
    with patched():
        ours_again = AutoTokenizer.from_pretrained(folder / "theirs")
    for text in TEXTS:
        results = [result_of(_calling(text), one) for one in (original, again, ours_again)]
        count += 2
        if results[1] != results[0] or results[2] != results[0]:
            different.append(f"saved and loaded {text!r}: {results!r:.300}")
    return count, different, raising


def _compared(paths: list[Path]) -> Iterator[tuple[str, str, tuple[int, list[str], list[str]]]]:
    for path in paths:
        yield path.name, path.stem, compare_file(path)
        for cls in FOLDERS.get(path.stem, ()):
            with tempfile.TemporaryDirectory() as folder:
                yield f"{path.stem} as {cls}", path.stem, compare_folder(write_folder(path, cls, Path(folder)))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    total, found = 0, {}
    major = import_module("transformers").__version__.split(".")[0]
    for name, stem, (count, different, raising) in _compared([Path(argument) for argument in sys.argv[1:]]):
        total += count
        known = {call for version, file, call in KNOWN if (version, file) == (major, stem)}
        found[name] = [line for line in different if line.split(":")[0] not in known]
        for line in raising:
            print(f"{name} raises: {line}", file=sys.stderr)
        print(f"{name}: {count} calls, {len(found[name])} different", file=sys.stderr, flush=True)
    print(json.dumps({"calls": total, "different": {name: lines for name, lines in found.items() if lines}}, indent=1))
    sys.exit(any(found.values()))
