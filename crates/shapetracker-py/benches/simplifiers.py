"""Integer expressions simplified: shapetracker beside tinygrad, TVM, z3 and sympy (inductor), as tables of Markdown.

    pip install . tinygrad==0.11.0 apache-tvm z3-solver sympy torch
    python crates/shapetracker-py/benches/simplifiers.py [--quick]

What is asked is the corpus of the tests: what tinygrad's and TVM's own suites ask their simplifiers (`simplify.jsonl`), and
the addresses of 250 stacks of views of real models, written view by view (`indexed.jsonl`). What is not installed is left
out, with the reason.

- shapetracker: `Expr.simplify`, and `simplify_pair` where a condition is given.
- tinygrad: `UOp.simplify` over `Variable`s, and `uop_given_valid` where a condition is given, as for the address of a load.
- TVM: `Analyzer.simplify` with the ranges bound, under a constraint where a condition is given.
- z3: `simplify`, which knows nothing of ranges.
- sympy: inductor's `SizeVarAllocator.simplify_with_ranges` over its `FloorDiv` and `ModularIndexing` if torch is installed, else
  `sympy.simplify`; with a time limit for each expression.

Each result is read back and measured by `Expr.cost`, and evaluated at 200 points beside the input, by the evaluator below.
Reading back is charitable: a - b is one operation however it is said, `!= True` is "not", and a negated maximum of negated
parts a minimum. What a simplifier has no word for is not asked of it: tinygrad's division rounds towards zero, that of z3 and
inductor down, and a row is asked if both are the same over its ranges. Times are those of simplifying alone, in turns, the
best of several rounds, with caches that would hold the answer emptied or the input made anew.
"""

import argparse
import ast
import math
import platform
import random
import signal
import statistics
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from importlib import metadata
from typing import Any

from layouts import corpus

from shapetracker import Expr, ParseError, simplify_pair

LIMIT = 5.0  # seconds an expression, of sympy
LONGEST = 10_000  # characters of an address written view by view

# An expression: a number, a truth value, a name, or an operation and its operands. `//` and `%` round down, `/` and `rem`
# towards zero.
Tree = int | bool | str | tuple[Any, ...]
Ranges = dict[str, tuple[int, int]]


class Inexpressible(Exception):
    """What a simplifier has no word for."""


PYTHON: dict[type, str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%", ast.Div: "/", ast.BitXor: "^", ast.BitOr: "|",
    ast.BitAnd: "&", ast.LShift: "<<", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
COMPARISONS = {"<", "<=", ">", ">=", "==", "!="}
CONDITIONS = COMPARISONS | {"and", "or", "not", "within"}
OPPOSITE = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}


def parsed(text: str, c: bool = False) -> Tree:
    """The tree of an expression of Python, or of what C and Python write alike but for what division means."""

    def tree(node: ast.AST) -> Tree:
        match node:
            case ast.Constant(value):
                return value
            case ast.Name(name):
                return name
            case ast.BinOp(a, op, b):
                return ("rem" if c and isinstance(op, ast.Mod) else PYTHON[type(op)], tree(a), tree(b))
            case ast.UnaryOp(ast.USub(), a):
                return -a.value if isinstance(a, ast.Constant) else ("neg", tree(a))
            case ast.UnaryOp(ast.Not(), a) | ast.UnaryOp(ast.Invert(), a):
                return ("not", tree(a))
            case ast.BoolOp(op, values):
                return ("and" if isinstance(op, ast.And) else "or", *map(tree, values))
            case ast.Compare(first, ops, rest):
                terms = [first, *rest]
                links = [(PYTHON[type(op)], tree(a), tree(b)) for op, a, b in zip(ops, terms, terms[1:])]
                return links[0] if len(links) == 1 else ("and", *links)
            case ast.IfExp(test, then, other):
                return ("if", tree(test), tree(then), tree(other))
            case ast.Call(ast.Name(name), args):
                return (name, *map(tree, args))
        raise ValueError(ast.dump(node))

    return tree(ast.parse(text.strip(), mode="eval").body)


def is_condition(tree: Tree) -> bool:
    if isinstance(tree, tuple):
        return tree[0] in CONDITIONS or (tree[0] in "&|^" and is_condition(tree[1])) or (tree[0] == "if" and is_condition(tree[2]))
    return isinstance(tree, bool)


def mapped(tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
    """The tree with each part changed, operands first; equal parts once."""
    known: dict[int, Tree] = {}

    def go(tree: Tree) -> Tree:
        if id(tree) not in known:
            known[id(tree)] = change((tree[0], *map(go, tree[1:])) if isinstance(tree, tuple) else tree)
        return known[id(tree)]

    return go(tree)


def quotient(a: int, b: int) -> float:
    """Towards zero; no number where the divisor is none, which a branch that is not taken may say."""
    return math.nan if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def remainder(a: int, b: int) -> float:
    return a - quotient(a, b) * b


def down(a: int, b: int) -> float:
    return math.nan if b == 0 else a // b


def function(tree: Tree, names: list[str]) -> Callable[..., int]:
    """The evaluator: one line of Python for each distinct part, of plain integers."""
    lines: list[str] = []
    known: dict[Any, str] = {}

    def go(tree: Tree) -> str:
        if not isinstance(tree, tuple):
            return f"v_{tree}" if isinstance(tree, str) else f"({tree})"
        op, *rest = tree
        parts = tuple(map(go, rest))
        if (op, parts) not in known:
            match op:
                case "neg" | "not":
                    text = f"{'-' if op == 'neg' else 'not'} {parts[0]}"
                case "/" | "rem":
                    text = f"{'quotient' if op == '/' else 'remainder'}({parts[0]}, {parts[1]})"
                case "//" | "%" if not isinstance(rest[1], int) or rest[1] == 0:
                    text = f"down({parts[0]}, {parts[1]})"
                    text = text if op == "//" else f"{parts[0]} - {text} * {parts[1]}"
                case "min" | "max":
                    text = f"{op}({', '.join(parts)})"
                case "if":
                    text = f"{parts[1]} if {parts[0]} else {parts[2]}"
                case "within":
                    text = f"{parts[0]} <= {parts[1]} < {parts[2]}"
                case _:
                    text = f" {op} ".join(parts)
            known[op, parts] = f"t{len(lines)}"
            lines.append(f"    t{len(lines)} = {text}\n")
        return known[op, parts]

    last = go(tree)
    source = f"def evaluated({', '.join('v_' + name for name in names)}):\n{''.join(lines)}    return {last}\n"
    scope: dict[str, Any] = {"quotient": quotient, "remainder": remainder, "down": down}
    exec(source, scope)
    return scope["evaluated"]


def written(tree: Tree, ranges: Ranges) -> str:
    """As text of Python for `Expr`; what rounds towards zero by the words that `Expr` has for C's division."""
    known: dict[Tree, str] = {}

    def towards_zero(tree: tuple[Any, ...], parts: list[str]) -> str:
        exprs = [Expr(part, **ranges) for part in parts]
        lows = [max(expr.range[0], expr.simplify().range[0]) for expr in exprs]
        if lows[0] >= 0 and lows[1] > 0:
            return f"({parts[0]} {'//' if tree[0] == '/' else '%'} {parts[1]})"
        operands = dict(zip("nm", exprs[: 1 if isinstance(tree[2], int) else 2]))
        second = f"({tree[2]})" if isinstance(tree[2], int) else "m"
        over = {name: (expr.range[0], expr.range[1] + 1) for name, expr in operands.items()}
        word = Expr(f"n {'/' if tree[0] == '/' else '%'} {second}", syntax="c", **over)
        return f"({word.substitute(**operands).text()})"

    def go(tree: Tree) -> str:
        if not isinstance(tree, tuple):
            return str(tree) if isinstance(tree, str) or tree >= 0 else f"({tree})"
        if tree not in known:
            op, *rest = tree
            parts = [go(part) for part in rest]
            match op:
                case "neg" | "not":
                    known[tree] = f"({'-' if op == 'neg' else 'not '}{parts[0]})"
                case "/" | "rem":
                    known[tree] = towards_zero(tree, parts)
                case "min" | "max":
                    text = parts[0]
                    for part in parts[1:]:
                        text = f"{op}({text}, {part})"
                    known[tree] = text
                case "within":
                    known[tree] = f"({parts[0]} <= {parts[1]} < {parts[2]})"
                case "if":
                    known[tree] = f"({parts[1]} if {parts[0]} else {parts[2]})"
                case _:
                    known[tree] = f"({f' {op} '.join(parts)})"
        return known[tree]

    return go(tree)


def charitable(tree: Tree) -> Tree:
    """The same in fewer words, where a simplifier has no others: differences, negations and minima."""

    def change(tree: Tree) -> Tree:
        match tree:
            case ("!=", a, True) | ("!=", True, a):
                return ("not", a)
            case ("*", a, -1) | ("*", -1, a):
                return change(("neg", a))
            case ("neg", int(a)):
                return -a
            case ("neg", ("neg", a)):
                return a
            case ("neg", ("-", a, b)):
                return ("-", b, a)
            case ("neg", ("max" | "min" as op, a, b)):
                parts = [part if isinstance(part, int) or part[0] == "neg" else None for part in (a, b)]
                if None not in parts:
                    return ("min" if op == "max" else "max", *(change(("neg", part)) for part in parts))
            case ("+", a, ("neg", b)) | ("+", ("neg", b), a):
                return ("-", a, b)
            case ("-", a, ("neg", b)):
                return ("+", a, b)
            case ("+", a, ("*", b, int(k))) | ("+", a, ("*", int(k), b)) | ("+", ("*", b, int(k)), a) if k < -1:
                return ("-", a, ("*", b, -k))
            case ("not", ("not", a)):
                return a
            case ("not", (op, a, b)) if op in OPPOSITE:
                return (OPPOSITE[op], a, b)
            case ("and", *parts):
                return joined(parts)
        return tree

    return mapped(tree, change)


def joined(parts: list[Tree]) -> Tree:
    """Conditions that hold together, with a lower and an upper bound of one value as one condition."""
    flat: list[Tree] = []
    for part in parts:
        flat += part[1:] if isinstance(part, tuple) and part[0] == "and" else [part]
    low = lambda part: isinstance(part, tuple) and part[0] in (">", ">=") and isinstance(part[2], int)  # noqa: E731
    high = lambda part: isinstance(part, tuple) and part[0] in ("<", "<=") and isinstance(part[2], int)  # noqa: E731
    for below in filter(low, flat):
        for above in filter(high, flat):
            if below[1] == above[1]:
                begin, end = below[2] + (below[0] == ">"), above[2] + (above[0] == "<=")
                rest = [part for part in flat if part is not below and part is not above]
                within = ("within", begin, below[1], end)
                return joined([within, *rest]) if rest else within
    return ("and", *flat) if len(flat) > 1 else flat[0]


class Row:
    """What is asked: an expression, the half-open ranges of its variables, and perhaps a condition that holds."""

    def __init__(self, suite: str, text: str, ranges: Ranges, c: bool = False, given: str | None = None) -> None:
        self.suite, self.text, self.ranges, self.c = suite, text, ranges, c
        self.tree, self.given = parsed(text, c), parsed(given) if given else None
        self.shown = f"`{text}`{' of C' if c else ''}, {ranges}{', given ' + given if given else ''}"
        self.expr = Expr(text, syntax="c" if c else "python", **ranges)
        self.condition = Expr(given, **ranges) if given else None
        names = list(ranges)
        value, holds = function(self.tree, names), function(self.given, names) if self.given is not None else lambda *_: 1
        self.points: list[tuple[tuple[int, ...], int]] = []
        rng = random.Random(text)
        for _ in range(20_000):
            point = tuple(
                rng.choice([lo, hi - 1, rng.randrange(lo, hi), rng.randrange(lo, hi), min(max(rng.randint(-6, 6), lo), hi - 1)])
                for lo, hi in ranges.values()
            )
            if holds(*point):
                self.points.append((point, value(*point)))
                if len(self.points) == 200:
                    break

    def differs(self, tree: Tree) -> dict[str, int] | None:
        """A point at which it has another value."""
        run = function(tree, list(self.ranges))
        for point, value in self.points:
            if run(*point) != value:
                return dict(zip(self.ranges, point)) | {"is": run(*point), "should be": value}
        return None

    def plain(self, rounding: str) -> Tree:
        """With the other sort of division said by the one that is there, where it is the same; both as `//` and `%`."""
        ours, theirs = ("/", "rem"), ("//", "%")

        def change(tree: Tree) -> Tree:
            if not isinstance(tree, tuple) or tree[0] not in (*ours, *theirs):
                return tree
            down = tree[0] in theirs
            a, b = (Expr(written(part, self.ranges), **self.ranges).range for part in tree[1:])
            same = (a[0] >= 0 and b[0] > 0) or (a[1] <= 0 and b[1] < 0)
            if not same and down != (rounding == "down"):
                raise Inexpressible(f"division that rounds {'down' if down else 'towards zero'}")
            return (("//" if tree[0] in ("//", "/") else "%"), *tree[1:])

        return mapped(self.tree, change)


def folded(tree: Tree, names: dict[str, Any], words: dict[str, Callable[..., Any]]) -> Any:
    """A tree in the words of a simplifier; operations of several operands pair by pair."""

    def go(tree: Tree) -> Any:
        if isinstance(tree, str):
            return names[tree]
        if not isinstance(tree, tuple):
            return words["bool" if isinstance(tree, bool) else "int"](tree)
        op, *rest = tree
        parts = [go(part) for part in rest]
        if op not in words:
            raise Inexpressible(f"{op}")
        if op in ("and", "or", "min", "max", "+", "*") and len(parts) > 2:
            result = parts[0]
            for part in parts[1:]:
                result = words[op](result, part)
            return result
        return words[op](*parts)

    return go(tree)


class Ours:
    name = "shapetracker"

    def prepare(self, row: Row) -> Callable[[], Any]:
        if row.condition is None:
            return row.expr.simplify
        return lambda: simplify_pair(row.expr, row.condition)[0]

    def read(self, result: Any) -> Tree:
        return parsed(str(result))


class Tinygrad:
    name = "tinygrad"

    def __init__(self) -> None:
        from tinygrad.uop.ops import Ops, UOp
        from tinygrad.uop.symbolic import uop_given_valid

        self.ops, self.uop, self.given = Ops, UOp, uop_given_valid
        self.version = f"tinygrad {metadata.version('tinygrad')}"
        from tinygrad.dtype import dtypes

        self.words: dict[str, Callable[..., Any]] = {
            "int": lambda v: UOp.const(dtypes.int, v), "bool": lambda v: UOp.const(dtypes.bool, v),
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a: -a,
            "//": lambda a, b: a // b, "%": lambda a, b: a % b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
            "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "!=": lambda a, b: a.ne(b), "==": lambda a, b: a.ne(b).logical_not(),
            "and": lambda a, b: a & b, "or": lambda a, b: a | b, "not": lambda a: a.logical_not(), "if": lambda c, a, b: c.where(a, b),
            "min": lambda a, b: a.minimum(b), "max": lambda a, b: a.maximum(b), "^": lambda a, b: a ^ b,
        }  # fmt: skip

    def prepare(self, row: Row) -> Callable[[], Any]:
        tree = row.plain("towards zero")
        names = {name: self.uop.variable(name, lo, hi - 1) for name, (lo, hi) in row.ranges.items()}
        node = folded(tree, names, self.words)
        if row.given is None:
            return node.simplify
        condition = folded(row.given, names, self.words)

        def run() -> Any:
            result = self.given(condition.simplify(), node.simplify())
            return node.const_like(0) if result is None else result

        return run

    def read(self, result: Any) -> Tree:
        ops, known = self.ops, {}
        binary = {
            ops.ADD: "+", ops.MUL: "*", ops.IDIV: "/", ops.MOD: "rem", ops.CMPLT: "<", ops.CMPNE: "!=", ops.MAX: "max",
            ops.SUB: "-", ops.XOR: "^",
        }  # fmt: skip

        def go(node: Any) -> Tree:
            if node in known:
                return known[node]
            parts = [go(part) for part in node.src] if node.op is not ops.DEFINE_VAR else []
            match node.op:
                case ops.DEFINE_VAR:
                    tree = node.arg[0]
                case ops.CONST:
                    tree = node.arg
                case ops.AND | ops.OR:
                    assert node.dtype.name == "bool"
                    tree = ("and" if node.op is ops.AND else "or", *parts)
                case ops.WHERE:
                    tree = ("if", *parts)
                case ops.NEG:
                    tree = ("neg", *parts)
                case ops.CAST:
                    tree = ("if", parts[0], 1, 0) if is_condition(parts[0]) else parts[0]
                case op:
                    tree = (binary[op], *parts)
            known[node] = tree
            return tree

        return go(result)


class Tvm:
    name = "TVM"

    def __init__(self) -> None:
        import tvm

        try:
            from tvm import tir
            from tvm.arith import Analyzer
        except ImportError:  # as of 0.27
            from tvm import tirx as tir
            from tvm.sym import Analyzer
        self.tvm, self.tir, self.analyzer = tvm, tir, Analyzer
        self.version = f"TVM {tvm.__version__}"
        self.words: dict[str, Callable[..., Any]] = {
            "int": lambda v: tir.const(v, "int64"), "bool": lambda v: tir.const(v, "bool"),
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a: tir.const(0, "int64") - a,
            "//": tir.floordiv, "%": tir.floormod, "/": tir.truncdiv, "rem": tir.truncmod,
            "<": lambda a, b: a < b, ">": lambda a, b: a > b, "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b,
            "==": lambda a, b: a.equal(b), "!=": lambda a, b: tir.NE(a, b), "and": lambda a, b: tir.And(a, b),
            "or": lambda a, b: tir.Or(a, b), "not": tir.Not, "if": tir.Select, "min": tir.min, "max": tir.max,
        }  # fmt: skip

    def prepare(self, row: Row) -> Callable[[], Any]:
        names = {name: self.tir.Var(name, "int64") for name in row.ranges}
        node = folded(row.tree, names, self.words)
        condition = None if row.given is None else folded(row.given, names, self.words)
        analyzer = self.analyzer()
        for name, (lo, hi) in row.ranges.items():
            low, extent = (self.tir.const(number, "int64") for number in (lo, hi - lo))
            analyzer.bind(names[name], self.tvm.ir.Range.from_min_extent(low, extent))

        def run() -> Any:
            if condition is None:
                return analyzer.simplify(node)
            with analyzer.constraint_scope(condition):
                return analyzer.simplify(node)

        return run

    def read(self, result: Any) -> Tree:
        words = {
            "Add": "+", "Sub": "-", "Mul": "*", "FloorDiv": "//", "FloorMod": "%", "Div": "/", "Mod": "rem", "Min": "min",
            "Max": "max", "LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!=", "And": "and", "Or": "or",
        }  # fmt: skip

        def go(node: Any) -> Tree:
            match kind := type(node).__name__:
                case "Var":
                    return str(node.name if hasattr(node, "name") else node.name_hint)
                case "IntImm":
                    return bool(node.value) if "bool" in str(node.dtype if hasattr(node, "dtype") else node.ty) else int(node.value)
                case "Not":
                    return ("not", go(node.a))
                case "Select":
                    return ("if", go(node.condition), go(node.true_value), go(node.false_value))
                case "Cast":
                    inner = go(node.value)
                    return ("if", inner, 1, 0) if is_condition(inner) else inner
                case _ if kind in words:
                    return (words[kind], go(node.a), go(node.b))
            raise ValueError(f"{kind}: {node}")

        return go(result)


class Z3:
    name = "z3"

    def __init__(self) -> None:
        import z3

        self.z3 = z3
        self.version = f"z3 {z3.get_version_string()}"
        self.words: dict[str, Callable[..., Any]] = {
            "int": z3.IntVal, "bool": z3.BoolVal,
            "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a: -a,
            "//": lambda a, b: a / b, "%": lambda a, b: a % b, "<": lambda a, b: a < b, ">": lambda a, b: a > b,
            "<=": lambda a, b: a <= b, ">=": lambda a, b: a >= b, "!=": lambda a, b: a != b, "==": lambda a, b: a == b,
            "and": z3.And, "or": z3.Or, "not": z3.Not, "if": z3.If,
            "min": lambda a, b: z3.If(a <= b, a, b), "max": lambda a, b: z3.If(a >= b, a, b),
        }  # fmt: skip

    def prepare(self, row: Row) -> Callable[[], Any]:
        if row.given is not None:
            raise Inexpressible("a condition that holds")
        tree = row.plain("down")

        def check(tree: Tree) -> Tree:
            # Its remainder is never negative: by what can be negative it would round up.
            if (
                isinstance(tree, tuple)
                and tree[0] in ("//", "%")
                and Expr(written(tree[2], row.ranges), **row.ranges).range[0] <= 0
            ):
                raise Inexpressible("division by what is negative")
            return tree

        node = folded(mapped(tree, check), {name: self.z3.Int(name) for name in row.ranges}, self.words)
        return lambda: self.z3.simplify(node)

    def read(self, result: Any) -> Tree:
        z3 = self.z3
        words = {
            z3.Z3_OP_IDIV: "//", z3.Z3_OP_DIV: "//", z3.Z3_OP_MOD: "%", z3.Z3_OP_LT: "<", z3.Z3_OP_LE: "<=", z3.Z3_OP_GT: ">",
            z3.Z3_OP_GE: ">=", z3.Z3_OP_EQ: "==", z3.Z3_OP_DISTINCT: "!=", z3.Z3_OP_AND: "and", z3.Z3_OP_OR: "or",
            z3.Z3_OP_NOT: "not", z3.Z3_OP_ITE: "if", z3.Z3_OP_ADD: "+", z3.Z3_OP_MUL: "*", z3.Z3_OP_SUB: "-",
            z3.Z3_OP_UMINUS: "neg",
        }  # fmt: skip

        def go(node: Any) -> Tree:
            if z3.is_int_value(node):
                return node.as_long()
            if z3.is_true(node) or z3.is_false(node):
                return z3.is_true(node)
            if z3.is_const(node):
                return str(node)
            op, parts = words[node.decl().kind()], [go(child) for child in node.children()]
            if op == "if" and isinstance(parts[0], tuple) and parts[0][0] in ("<=", ">=") and parts[0][1:] == tuple(parts[1:]):
                return ("min" if parts[0][0] == "<=" else "max", *parts[1:])
            return summed(parts) if op == "+" else multiplied(parts) if op == "*" else (op, *parts)

        return go(result)


def multiplied(parts: list[Tree]) -> Tree:
    """Factors as pairs, a number last; numbers that are -1 as a negation."""
    number = math.prod(part for part in parts if isinstance(part, int))
    others = [part for part in parts if not isinstance(part, int)]
    if not others:
        return number
    tree = others[0]
    for part in others[1:]:
        tree = ("*", tree, part)
    return tree if number == 1 else ("neg", tree) if number == -1 else ("*", tree, number)


def summed(parts: list[Tree]) -> Tree:
    """Terms as pairs, what is subtracted after what is added."""

    def negative(part: Tree) -> Tree | None:
        match part:
            case ("neg", a):
                return a
            case ("*", a, int(k)) if k < 0:
                return ("*", a, -k)
            case int(k) if k < 0:
                return -k
        return None

    first = [part for part in parts if negative(part) is None]
    rest = [part for part in map(negative, parts) if part is not None]
    if not first:
        return ("neg", summed(rest)) if len(rest) > 1 else ("neg", rest[0])
    tree = first[0]
    for part in first[1:]:
        tree = ("+", tree, part)
    for part in rest:
        tree = ("-", tree, part)
    return tree


class Sympy:
    """Inductor's functions and its simplifier where torch is installed, else sympy's own."""

    def __init__(self) -> None:
        import sympy

        self.sympy = sympy
        self.version = f"sympy {sympy.__version__}"
        self.inductor: Any = None
        integer, boolean = sympy.Integer, sympy.sympify
        words: dict[str, Callable[..., Any]] = {
            "int": integer, "bool": boolean, "+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b,
            "neg": lambda a: -a, "<": sympy.Lt, ">": sympy.Gt, "<=": sympy.Le, ">=": sympy.Ge, "==": sympy.Eq, "!=": sympy.Ne,
            "and": sympy.And, "or": sympy.Or, "not": sympy.Not,
        }  # fmt: skip
        try:
            from torch._inductor import sizevars
            from torch.fx.experimental.symbolic_shapes import ShapeEnv
            from torch.utils._sympy import functions
            from torch.utils._sympy.value_ranges import ValueRanges
        except ImportError:
            self.name = "sympy"
            words |= {
                "//": lambda a, b: sympy.floor(a / b), "%": sympy.Mod, "min": sympy.Min, "max": sympy.Max,
                "if": lambda c, a, b: sympy.Piecewise((a, c), (b, True)),
            }  # fmt: skip
        else:
            self.name = "inductor"
            self.version = f"inductor of torch {metadata.version('torch')} with {self.version}"
            self.inductor, self.env, self.between = sizevars.SizeVarAllocator, ShapeEnv, ValueRanges
            words |= {
                "//": functions.FloorDiv, "min": functions.Min, "max": functions.Max, "if": functions.Where,
                "%": functions.PythonMod, "mod": lambda a, b: functions.ModularIndexing(a, integer(1), b),
            }  # fmt: skip
        self.words = words

    def prepare(self, row: Row) -> Callable[[], Any]:
        if row.given is not None:
            raise Inexpressible("a condition that holds")
        if is_condition(row.tree):
            raise Inexpressible("a condition, not an index")
        tree = row.plain("down")

        def modular(tree: Tree) -> Tree:
            if isinstance(tree, tuple) and tree[0] == "%" and self.inductor:
                a, b = (Expr(written(part, row.ranges), **row.ranges).range for part in tree[1:])
                if a[0] >= 0 and b[0] > 0:
                    return ("mod", *tree[1:])
            return tree

        names = {
            name: self.sympy.Symbol(name, integer=True, nonnegative=True if lo >= 0 else None)
            for name, (lo, hi) in row.ranges.items()
        }
        if self.inductor:
            # As the parts are made: a sum's range is asked of `written`, which has no "mod".
            node = folded(self.modulo(tree, modular), names, self.words)
            env = self.env()
            # Loops begin at 0; what does not is a symbol whose range the environment knows.
            sizes = {names[name]: self.sympy.Integer(hi) for name, (lo, hi) in row.ranges.items() if lo == 0}
            env.var_to_range.update({names[name]: self.between(lo, hi - 1) for name, (lo, hi) in row.ranges.items() if lo != 0})
            allocator = self.inductor(env)
            return self.limited(lambda: allocator.simplify_with_ranges(node, sizes))
        node = folded(tree, names, self.words)
        return self.limited(lambda: self.sympy.simplify(node))

    def modulo(self, tree: Tree, change: Callable[[Tree], Tree]) -> Tree:
        if not isinstance(tree, tuple):
            return tree
        kind = change(tree)[0]
        return (kind, *(self.modulo(part, change) for part in tree[1:]))

    def limited(self, run: Callable[[], Any]) -> Callable[[], Any]:
        def late(*_: Any) -> None:
            raise Inexpressible(f"more than {LIMIT:.0f} s")

        def timed() -> Any:
            previous = signal.signal(signal.SIGALRM, late)
            signal.setitimer(signal.ITIMER_REAL, LIMIT)
            try:
                return run()
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, previous)

        self.sympy.core.cache.clear_cache()
        return timed

    def read(self, result: Any) -> Tree:
        sympy = self.sympy
        words = {
            "FloorDiv": "//", "CleanDiv": "//", "PythonMod": "%", "Mod": "%", "Min": "min", "Max": "max", "Where": "if",
            "StrictLessThan": "<", "LessThan": "<=", "StrictGreaterThan": ">", "GreaterThan": ">=", "Equality": "==",
            "Unequality": "!=", "And": "and", "Or": "or", "Not": "not",
        }  # fmt: skip

        def go(node: Any) -> Tree:
            if node.is_Symbol:
                return node.name
            if node.is_Integer:
                return int(node)
            if node in (sympy.true, sympy.false):
                return bool(node)
            if node.is_Pow:
                assert node.exp.is_Integer and node.exp > 0, node
                return multiplied([go(node.base)] * int(node.exp))
            kind = type(node).__name__
            if kind == "floor":
                numerator, denominator = node.args[0].as_numer_denom()
                return ("//", go(numerator), go(denominator))
            if kind == "Piecewise":
                (value, holds), *others = node.args
                return go(value) if holds == sympy.true else ("if", go(holds), go(value), go(sympy.Piecewise(*others)))
            if any(part.is_Rational and not part.is_Integer for part in node.args):
                raise Inexpressible("a fraction")
            parts = [go(part) for part in node.args]
            if kind == "ModularIndexing":
                return ("%", parts[0] if parts[1] == 1 else ("//", parts[0], parts[1]), parts[2])
            if kind in ("Add", "Mul"):
                return summed(parts) if kind == "Add" else multiplied(parts)
            return (words[kind], *parts)

        return go(result)


def suites(quick: bool) -> list[Row]:
    """What the suites of tinygrad and TVM ask, as far as it has a value everywhere."""
    lines = [line for line in corpus("simplify") if line.get("best")][:: 10 if quick else 1]
    return [
        Row(
            line["suite"],
            line["expr"],
            {n: (lo, hi) for n, (lo, hi) in line["ranges"].items()},
            bool(line.get("c")),
            line.get("given"),
        )
        for line in lines
    ]


def address(views: list[dict[str, Any]]) -> tuple[str, Ranges] | None:
    """The address that a stack of views reads, written view by view; none where a part might leave the view below."""
    names = [f"i{place}" for place in range(len(views[-1]["shape"]))]
    ranges = {name: (0, size) for name, size in zip(names, views[-1]["shape"])}
    coordinates = [name if size > 1 else "0" for name, size in zip(names, views[-1]["shape"])]
    for place, view in reversed(list(enumerate(views))):
        terms = [
            f"({c} * {stride})" if stride != 1 else c for c, stride in zip(coordinates, view["strides"]) if stride and c != "0"
        ]
        flat = "(" + " + ".join([*terms, *([str(view["offset"])] if view["offset"] or not terms else [])]) + ")"
        if place == 0:
            if len(flat) > LONGEST:
                return None
            return flat, {name: ranges[name] for name in ranges if name in parsed_names(flat)}
        if len(flat) > LONGEST:
            return None
        try:
            lo, hi = Expr(flat, **ranges).range
        except ParseError:  # past 64 bits
            return None
        if lo < 0 or hi >= 2**31:
            return None
        inner, coordinates = 1, []
        for size in reversed(views[place - 1]["shape"]):
            divided = f"({flat} // {inner})" if inner > 1 else flat
            coordinates.insert(0, f"({divided} % {size})" if size > 1 else "0")
            inner *= size
    return None


def parsed_names(text: str) -> set[str]:
    return {node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)}


def stacks(quick: bool) -> list[Row]:
    found = [address(line["views"]) for line in corpus("indexed") if len(line["views"]) > 1]
    asked = [part for part in found if part is not None and ("//" in part[0] or "%" in part[0])]
    count = 25 if quick else 250
    print(f"{count} of {len(asked)} addresses that divide, of {len(found)} stacks")
    return [Row("stacks", *asked[len(asked) * place // count]) for place in range(count)]


class Answers:
    """What one simplifier makes of the rows."""

    def __init__(self, peer: Any, rows: list[Row]) -> None:
        self.peer = peer
        self.refused: dict[int, str] = {}
        self.wrong: dict[int, tuple[str, Any]] = {}
        self.costs: dict[int, tuple[int, int, int]] = {}
        self.texts: dict[int, str] = {}
        self.times: dict[int, float] = {}
        for place, row in enumerate(rows):
            try:
                run = peer.prepare(row)
            except Inexpressible as reason:
                self.refused[place] = f"{reason}"
                continue
            except Exception as error:
                print(f"{peer.name}: {type(error).__name__}: {error}, for {row.shown}")
                self.refused[place] = f"{type(error).__name__} while it is made"
                continue
            try:
                result = run()
                tree = charitable(peer.read(result))
            except Inexpressible as reason:
                self.refused[place] = f"{reason}"
                continue
            except Exception as error:
                print(f"{peer.name}: {type(error).__name__}: {error}, at {row.shown}")
                self.refused[place] = f"{type(error).__name__}"
                continue
            if point := row.differs(tree):
                self.wrong[place] = (written(tree, row.ranges), point)
                continue
            try:
                self.texts[place] = written(tree, row.ranges)
                cost = Expr(self.texts[place], **row.ranges).cost
            except ParseError as error:
                self.refused[place] = f"not read back ({str(error).splitlines()[0]})"
                continue
            self.costs[place] = (cost.weight, cost.ops, cost.divmods)

    def measure(self, place: int, row: Row) -> None:
        if place in self.costs or place in self.wrong:
            run = self.peer.prepare(row)
            begin = time.perf_counter()
            run()
            took = time.perf_counter() - begin
            self.times[place] = min(took, self.times.get(place, math.inf))


def duration(seconds: float) -> str:
    return f"{seconds * 1e6:.0f} us" if seconds < 1e-3 else f"{seconds * 1e3:.1f} ms"


def table(title: str, places: list[int], answers: list[Answers]) -> None:
    ours = answers[0]
    print(f"\n{title}: {len(places)} expressions\n")
    heads = ["", "answers", "dearer than ours", "the same", "cheaper", "wrong", "weight / ours", "mean", "99 %", "mean / ours"]
    print(f"| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for one in answers:
        answered = [place for place in places if place in one.costs]
        shared = [place for place in answered if place in ours.costs]
        kinds = Counter((one.costs[place] > ours.costs[place]) - (one.costs[place] < ours.costs[place]) for place in shared)
        times = [one.times[place] for place in places if place in one.times]
        if not times:
            print(f"| {one.peer.name} | 0 |{' |' * (len(heads) - 2)}")
            continue
        weight = [sum(column.costs[place][0] for place in shared) for column in (one, ours)]
        beside = [ours.times[place] for place in places if place in one.times and place in ours.times]
        last = statistics.quantiles(times, n=100)[98] if len(times) > 1 else times[0]
        compared = ["", "", ""] if one is ours else [str(kinds[sign]) for sign in (1, 0, -1)]
        cells = [
            str(len(answered)), *compared, str(sum(place in one.wrong for place in places)),
            f"{weight[0]:,}" if one is ours else f"{weight[0]:,} / {weight[1]:,} = {weight[0] / max(weight[1], 1):.2f}",
            duration(statistics.mean(times)), duration(last), f"{sum(times) / sum(beside):.1f}" if beside else "",
        ]  # fmt: skip
        print(f"| {one.peer.name} | {' | '.join(cells)} |")
    common = [place for place in places if all(place in one.costs for one in answers)]
    total = ", ".join(f"{one.peer.name} {sum(one.costs[place][0] for place in common):,}" for one in answers)
    print(f"\nWeight of the {len(common)} that all answer: {total}.")
    for one in answers:
        reasons = Counter(one.refused[place] for place in places if place in one.refused)
        if reasons:
            print(
                f"Not asked of {one.peer.name}, or refused: {', '.join(f'{count} {reason}' for reason, count in reasons.most_common())}."
            )


def listed(rows: list[Row], answers: list[Answers]) -> None:
    """Each wrong answer with a point, and each that is dearer here."""
    ours, *others = answers
    places = range(len(rows))
    for one in answers:
        for place in places:
            if place in one.wrong:
                print(f"\nWrong, {one.peer.name}: {rows[place].shown}\n  {one.wrong[place][0]}\n  at {one.wrong[place][1]}")
    dearer: dict[int, list[str]] = defaultdict(list)
    for one in others:
        for place in places:
            if place in one.costs and place in ours.costs and one.costs[place] < ours.costs[place]:
                dearer[place].append(f"{one.peer.name} {one.costs[place]}: {one.texts[place]}")
    for place, found in dearer.items():
        print(f"\nDearer here: {rows[place].shown}\n  ours {ours.costs[place]}: {ours.texts[place]}")
        print("".join(f"  {line}\n" for line in found), end="")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the expressions, one round")
    arguments = parser.parse_args()
    sys.setrecursionlimit(20_000)
    peers: list[Any] = [Ours()]
    for kind in (Tinygrad, Tvm, Sympy, Z3):
        try:
            peers.append(kind())
        except ImportError as error:
            print(f"{kind.__name__} is left out: {error}")
    print(f"Python {platform.python_version()}, {', '.join(peer.version for peer in peers[1:])}")
    rows = suites(arguments.quick) + stacks(arguments.quick)
    answers = [Answers(peer, rows) for peer in peers]
    for _ in range(1 if arguments.quick else 3):
        for place, row in enumerate(rows):
            for one in answers:
                one.measure(place, row)
    for suite, title in [
        ("tinygrad", "What tinygrad's suite asks"),
        ("TVM", "What TVM's suite asks"),
        ("stacks", "Addresses of stacks of views, written view by view"),
    ]:
        table(title, [place for place, row in enumerate(rows) if row.suite == suite], answers)
    listed(rows, answers)


if __name__ == "__main__":
    main()
