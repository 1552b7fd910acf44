"""The sandbox that runs chat templates: jinja's ImmutableSandboxedEnvironment with what transformers 5.23 adds to it,
whose texts keep their origins and whose work is counted.

A template is a program of the model's author. The sandbox refuses attributes that begin with an underscore, changes of
lists and dicts, and the loading of other templates; `polytok.chat.budget` stops programs that do too much.
"""

from __future__ import annotations

import re
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache, update_wrapper
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.compiler import CodeGenerator, Frame, MacroRef, operators
from jinja2.exceptions import SecurityError, TemplateError
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.runtime import Context, LoopContext, Macro
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import Namespace

from ..errors import ChatTemplateError
from .budget import Limits, check_number, sliced, spend_characters, spend_steps, spending, step, weigh
from .filters import all_filters, all_tests, text_of
from .formatting import OriginFormatter
from .origin import Text, generated, is_from_template, joined, literal

_COMPILE_LIMITS = Limits(steps=1_000_000, characters=10_000_000)
_MAX_SOURCE = 100_000
_STEPS_OF_CALL = 16
_STEPS_OF_ITEM = 8
_STEPS_OF_METHODS = {"copy": 4, "count": 1, "index": 1}
_DICT_ATTRIBUTES = frozenset(dir(dict))
_MAX_TIME_FORMAT = 1000
_WIDTH = re.compile(r"%[-_0^#]*[0-9]")
# Bytes and numbers have methods that build huge values.
_ATTRIBUTES = {
    bytes: frozenset(("decode",)),
    int: frozenset(("bit_length", "real", "imag", "numerator", "denominator")),
}
# Jinja's other rules about attributes are for functions, generators and objects that can change.
_PLAIN_TYPES = frozenset((Text, LoopContext))
_STEP, _WEIGH, _SLICED, _TO_TEXT = "polytok_step", "polytok_weigh", "polytok_sliced", "polytok_str"
_LITERAL = "polytok_text_"


@lru_cache(maxsize=64)
def compiled(source: str) -> jinja2.Template:
    """Compiles a template. Raises the errors of jinja."""
    if len(source) > _MAX_SOURCE:
        raise ChatTemplateError(f"the chat template has {len(source)} characters; at most {_MAX_SOURCE} are supported")
    with spending(_COMPILE_LIMITS):
        return _ENVIRONMENT.from_string(source)


class OriginCodeGenerator(CodeGenerator):
    """Generates code in which the texts of the template are `Text`, and in which each iteration is counted."""

    def __init__(self, *args: Any, **keywords: Any) -> None:
        super().__init__(*args, **keywords)
        self.literals: dict[str, str] = {}

    def constants(self) -> str:
        """Returns the code that defines the names in the generated code, which is run before any template is."""
        rows = [f"{name} = environment.literal({content!r})" for content, name in self.literals.items()]
        functions = (f"{name} = environment.{method}" for name, method in _FUNCTIONS.items())
        return "\n".join(("", *functions, *rows, ""))

    def _constant(self, value: Any) -> str:
        """Returns the code of a constant."""
        if isinstance(value, str):
            return self.literals.setdefault(str.__str__(value), f"{_LITERAL}{len(self.literals)}")
        if isinstance(value, (list, tuple, set, frozenset)):
            items = "".join(f"{self._constant(item)}, " for item in value)
            return f"[{items}]" if isinstance(value, list) else f"{type(value).__name__}(({items}))"
        if isinstance(value, dict):
            return (
                "{" + ", ".join(f"{self._constant(key)}: {self._constant(item)}" for key, item in value.items()) + "}"
            )
        if isinstance(value, int):
            check_number(value.bit_length())
        return str(value) if isinstance(value, float) else repr(value)

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:
        self.write(self._constant(node.as_const(frame.eval_ctx)))

    def visit_TemplateData(self, node: nodes.TemplateData, frame: Frame) -> None:
        self.write(self._constant(node.data))

    def _output_const_repr(self, group: Iterable[Any]) -> str:
        return self._constant("".join(map(str, group)))

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:
        self.write("environment.concat_values((")
        for operand in node.nodes:
            self.visit(operand, frame)
            self.write(", ")
        self.write("))")

    def visit_For(self, node: nodes.For, frame: Frame) -> None:
        condition = _count_steps(node.body, node.lineno)
        if node.test is None:
            node.body = [nodes.ExprStmt(condition, lineno=node.lineno), *node.body]
        else:
            node.test = nodes.And(condition, node.test, lineno=node.lineno)
        super().visit_For(node, frame)

    def macro_body(self, node: nodes.Macro | nodes.CallBlock, frame: Frame) -> tuple[Frame, MacroRef]:
        node.body = [nodes.ExprStmt(_count_steps(node.body, node.lineno), lineno=node.lineno), *node.body]
        return super().macro_body(node, frame)

    def _output_child_pre(self, node: nodes.Expr, frame: Frame, finalize: Any) -> None:
        if frame.eval_ctx.volatile or frame.eval_ctx.autoescape:
            super()._output_child_pre(node, frame, finalize)
        else:
            self.write(f"{_TO_TEXT}(")

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:
        """Counts the items of a tuple, which can be hashed, when it is built."""
        is_built = node.ctx == "load" and not _is_constant(node)
        self.write(f"{_WEIGH}(" if is_built else "")
        super().visit_Tuple(node, frame)
        self.write(")" if is_built else "")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:
        """Counts the items of a slice."""
        is_slice = isinstance(node.arg, nodes.Slice)
        self.write(f"{_SLICED}(" if is_slice else "")
        super().visit_Getitem(node, frame)
        self.write(")" if is_slice else "")

    def visit_Compare(self, node: nodes.Compare, frame: Frame) -> None:
        """Counts the work of comparing two values that are not constants."""
        expressions = [node.expr, *(operand.expr for operand in node.ops)]
        constants = [_is_constant(expression) for expression in expressions]
        self.write("(")
        for index, expression in enumerate(expressions):
            if index:
                self.write(f" {operators[node.ops[index - 1].op]} ")
            is_searched = index > 0 and node.ops[index - 1].op in ("in", "notin")
            is_weighed = not constants[index] and (is_searched or not any(constants))
            self.write(f"{_WEIGH}(" if is_weighed else "")
            self.visit(expression, frame)
            self.write(")" if is_weighed else "")
        self.write(")")


_FUNCTIONS = {_STEP: "step", _WEIGH: "weigh", _SLICED: "sliced", _TO_TEXT: "text_of"}


def _is_constant(node: nodes.Node) -> bool:
    """Reports whether an expression is a constant, or a list of constants."""
    if isinstance(node, (nodes.List, nodes.Tuple)):
        return all(isinstance(item, nodes.Const) for item in node.items)
    return isinstance(node, nodes.Const)


def _count_steps(body: Iterable[nodes.Node], line: int) -> nodes.InternalName:
    """Returns an expression that counts the steps of a body, without the bodies within it: two for each node, and more
    for an attribute."""
    steps = 0
    pending = list(body)
    while pending:
        node = pending.pop()
        steps += 6 if isinstance(node, (nodes.Getattr, nodes.NSRef)) else 1  # the sandbox checks attributes
        is_body = isinstance(node, (nodes.For, nodes.Macro, nodes.CallBlock))
        pending += node.iter_child_nodes(exclude=("body",) if is_body else None)
    return _internal_name(f"{_STEP}({2 * steps + 1})", line)


def _internal_name(code: str, line: int) -> nodes.InternalName:
    """Returns an expression that is generated as this code."""
    node = object.__new__(nodes.InternalName)
    nodes.Node.__init__(node, code, lineno=line)
    return node


class GenerationTag(Extension):
    """The block ``{% generation %}``, which marks what the model writes."""

    tags = frozenset(("generation",))  # type: ignore[assignment]

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("mark"), [], [], body).set_lineno(line)

    def mark(self, caller: Macro) -> Text:
        """Returns the text of the block, marked."""
        return generated(caller())


class ChatEnvironment(ImmutableSandboxedEnvironment):
    """The environment of all templates."""

    code_generator_class = OriginCodeGenerator
    intercepted_binops = frozenset(("+", "*", "**", "%"))

    def __init__(self) -> None:
        super().__init__(trim_blocks=True, lstrip_blocks=True, extensions=[GenerationTag, loopcontrols])
        self.filters.update(all_filters())
        self.tests.update(all_tests())
        self.globals.update(
            raise_exception=_raise_exception, strftime_now=_strftime_now, dict=_Dict(), namespace=_Namespace
        )
        del self.globals["lipsum"]  # random text of any length, which no template of a model needs

    literal = staticmethod(literal)
    step = staticmethod(step)
    weigh = staticmethod(weigh)
    text_of = staticmethod(text_of)
    sliced = staticmethod(sliced)
    concat = staticmethod(joined)

    @staticmethod
    def concat_values(values: tuple[Any, ...]) -> Text:
        """Returns the result of the operator ``~``."""
        return joined([text_of(value) for value in values])

    def _generate(
        self, source: nodes.Template, name: str | None, filename: str | None, defer_init: bool = False
    ) -> str:
        generator = OriginCodeGenerator(self, name, filename, None, defer_init, self.optimized)
        generator.visit(source)
        return str(generator.stream.getvalue()) + generator.constants()  # type: ignore[attr-defined]

    def getattr(self, obj: Any, attribute: str) -> Any:
        # A message is a dict, and most names are keys: looking them up first saves an exception.
        if type(obj) is dict and attribute in obj and attribute not in _DICT_ATTRIBUTES:
            return obj[attribute]
        return super().getattr(Text(obj) if type(obj) is str else obj, attribute)

    def is_safe_attribute(self, obj: Any, attr: str, value: Any) -> bool:
        if type(obj) in _PLAIN_TYPES:
            return not attr.startswith("_")
        names = _ATTRIBUTES.get(type(obj))
        return (names is None or attr in names) and super().is_safe_attribute(obj, attr, value)

    def getitem(self, obj: Any, argument: Any) -> Any:
        return super().getitem(Text(obj) if type(obj) is str else obj, argument)

    def call(__self, __context: Context, __obj: Any, *args: Any, **keywords: Any) -> Any:
        spend_steps(_STEPS_OF_CALL + 2 * (len(args) + len(keywords)))
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, str):
            spend_steps(len(owner) // 64)
        elif isinstance(owner, (list, tuple, dict)):
            spend_steps(len(owner) * _STEPS_OF_METHODS.get(__obj.__name__, 0))
            for argument in args:
                weigh(argument)
        return super().call(__context, __obj, *args, **keywords)

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        _check_operation(operator, left, right)
        return super().call_binop(context, operator, Text(left) if type(left) is str else left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Returns ``str.format`` and ``str.format_map`` of the sandbox, which keep origins."""
        if not isinstance(value, (types.MethodType, types.BuiltinMethodType)):
            return None
        text, name = value.__self__, value.__name__
        if name not in ("format", "format_map") or not isinstance(text, str):
            return None
        formatter = OriginFormatter(self)

        def wrapper(*args: Any, **keywords: Any) -> Text:
            if name == "format_map":
                if keywords or len(args) != 1:
                    raise TypeError(f"format_map() takes exactly one argument ({len(args)} given)")
                return wrapped((), args[0])
            return wrapped(args, keywords)

        def wrapped(args: tuple[Any, ...], values: Mapping[str, Any]) -> Text:
            result = formatter.vformat(text, args, values)
            return text._new(result) if isinstance(text, Text) else result

        return update_wrapper(wrapper, value)


def _check_operation(operator: str, left: Any, right: Any) -> None:
    """Refuses numbers with too many digits, and counts the items of lists that an operator builds."""
    if operator == "+":
        if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
            spend_steps(len(left) + len(right))
        elif isinstance(left, bytes) and isinstance(right, bytes):
            spend_characters(len(left) + len(right))
    elif operator == "*":
        for value, count in ((left, right), (right, left)):
            if isinstance(value, int) and isinstance(count, int):
                check_number(value.bit_length() + count.bit_length())
            elif isinstance(value, (list, tuple)) and isinstance(count, int):
                spend_steps(len(value) * max(count, 0))
            elif isinstance(value, (str, bytes)) and not isinstance(value, Text) and isinstance(count, int):
                spend_characters(len(value) * max(count, 0))
    elif operator == "%" and isinstance(left, bytes):
        raise TypeError("bytes cannot be formatted")
    elif operator == "**" and isinstance(left, int) and isinstance(right, int):
        check_number(left.bit_length() * abs(right))


def _raise_exception(message: Any) -> None:
    raise TemplateError(text_of(message))


def _strftime_now(format: str) -> str:
    if len(format) > _MAX_TIME_FORMAT or _WIDTH.search(format):
        raise ValueError("strftime_now: the format is longer than 1000 characters, or has a width")
    text = datetime.now().strftime(str.__str__(format))
    return literal(text) if is_from_template(format) else Text(text)


class _Dict:
    """The function ``dict`` of templates, without the attributes of the class."""

    def __call__(self, *args: Any, **keywords: Any) -> dict[Any, Any]:
        spend_steps(sum(_STEPS_OF_ITEM * len(value) for value in (*args, keywords) if hasattr(value, "__len__")))
        return dict(*args, **keywords)

    def fromkeys(self, *args: Any, **keywords: Any) -> dict[Any, Any]:
        spend_steps(sum(_STEPS_OF_ITEM * len(value) for value in args[:1] if hasattr(value, "__len__")))
        return dict.fromkeys(*args, **keywords)


class _Namespace(Namespace):
    """The function ``namespace`` of templates, which refuses names with an underscore in front."""

    def __init__(*args: Any, **keywords: Any) -> None:
        self, values = args[0], dict(*args[1:], **keywords)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __repr__(self) -> str:
        return "<Namespace>"  # without values, which can contain the namespace

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: Any) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise SecurityError(f"a namespace has no attribute {name!r}, which begins with an underscore")


def line_of(template: jinja2.Template, error: BaseException) -> int | None:
    """Returns the line of the template in which an error was raised."""
    lines = [
        template.get_corresponding_lineno(line)
        for frame, line in _frames(error.__traceback__)
        if frame.f_globals.get("debug_info") is not None and frame.f_globals.get("environment") is _ENVIRONMENT
    ]
    return lines[-1] if lines else None


def _frames(traceback: types.TracebackType | None) -> Iterator[tuple[types.FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


_ENVIRONMENT = ChatEnvironment()
