"""A stand-in for the part of tinygrad's UOp that index expressions need: numbers, conditions, and their text.

An expression of this package stands behind each of them, as `expr`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Callable, Iterable, Union

from shapetracker import Expr, ShapeTracker, simplify_pair

from . import _uops
from ._classes import over_ranges, written
from ._genuine import loaded

__all__ = ["UOp"]

Operand = Union["UOp", int]

_CONDITIONS = frozenset(("bool", "within", "not", "and", "or", "<", "<=", ">", ">=", "==", "!="))


class UOp:
    """A number or a condition over variables that have ranges.

    `==` is whether two have the same structure; `eq` and `ne` make conditions of numbers.
    """

    __slots__ = ("expr", "_simple")

    def __init__(self, expr: Expr, *, simple: bool = False) -> None:
        self.expr = expr
        self._simple = simple

    @staticmethod
    def const(dtype: Any, value: int | bool) -> UOp:
        """A number, or True or False; the type is of no consequence."""
        return UOp(Expr(repr(value)), simple=True)

    @staticmethod
    def variable(name: str, min_val: int, max_val: int, dtype: Any = None) -> UOp:
        """A variable with its smallest and its largest value; the type is of no consequence."""
        return UOp(_variable(name, min_val, max_val), simple=True)

    @staticmethod
    def range(dtype: Any, end: int, idx: int) -> UOp:
        """The variable `ridx{idx}` from 0 to below `end`; the type is of no consequence."""
        return UOp(_variable(f"ridx{idx}", 0, end - 1), simple=True)

    @property
    def vmin(self) -> int | bool:
        """The smallest value that the ranges of the variables allow."""
        return self._bound(0)

    @property
    def vmax(self) -> int | bool:
        """The largest value that the ranges of the variables allow."""
        return self._bound(1)

    def _bound(self, which: int) -> int | bool:
        bound = self.expr.range[which]
        return bool(bound) if self._is_condition() else bound

    def _is_condition(self) -> bool:
        nodes = self.expr.nodes()
        node = nodes[-1]
        while node[0] == "if":
            node = nodes[node[2]]
        return node[0] in _CONDITIONS

    def render(self, simplify: bool = True) -> str:
        """The text in tinygrad's style, every operation in parentheses: Python evaluates it."""
        return written(self.expr if self._simple or not simplify else self.expr.simplify())

    def simplify(self) -> UOp:
        """The same value for all values of the variables, as cheap as we know to make it."""
        return self if self._simple else UOp(self.expr.simplify(), simple=True)

    def ssimplify(self) -> UOp | int | bool:
        """The simplified expression, or the number or condition that it always is."""
        simple = self.simplify()
        return simple if simple.expr.variables else simple.expr.evaluate()

    def substitute(self, dvars: dict[UOp, Operand]) -> UOp:
        """The expression with others in place of variables."""
        values = {}
        for variable, value in dvars.items():
            node = variable.expr.nodes()[-1]
            if node[0] != "variable":
                raise TypeError(f"substitute: only variables are replaced, and {variable.render()} is none")
            values[node[1]] = _operand(value)
        return UOp(self.expr.substitute(**values))

    def evaluate(self, **values: int) -> int | bool:
        """The value for values of the variables: `evaluate(ridx0=2, ridx1=0)`; others than its own may be given."""
        return self.expr.evaluate(**{name: value for name, value in values.items() if name in self.expr.variables})

    def __int__(self) -> int:
        return int(self._constant())

    def __bool__(self) -> bool:
        return bool(self._constant())

    def _constant(self) -> int | bool:
        value = self.ssimplify()
        if isinstance(value, UOp):
            raise ValueError(f"{value.render()} is not one value: it ranges from {value.vmin} to {value.vmax}")
        return value

    def eq(self, other: Operand) -> UOp:
        """The condition that two numbers are equal."""
        return UOp(self.expr.eq(_operand(other)))

    def ne(self, other: Operand) -> UOp:
        """The condition that two numbers are different."""
        return UOp(self.expr.ne(_operand(other)))

    def logical_not(self) -> UOp:
        """The opposite of a condition."""
        return UOp(~self.expr)

    def __add__(self, other: Operand) -> UOp:
        return UOp(self.expr + _operand(other))

    def __radd__(self, other: Operand) -> UOp:
        return UOp(_operand(other) + self.expr)

    def __sub__(self, other: Operand) -> UOp:
        return UOp(self.expr - _operand(other))

    def __rsub__(self, other: Operand) -> UOp:
        return UOp(_operand(other) - self.expr)

    def __mul__(self, other: Operand) -> UOp:
        if self._is_condition():
            return self & other
        return UOp(self.expr * _operand(other))

    def __rmul__(self, other: Operand) -> UOp:
        return UOp(_operand(other) * self.expr)

    def __floordiv__(self, other: Operand) -> UOp:
        return UOp(self.expr // _operand(other))

    def __rfloordiv__(self, other: Operand) -> UOp:
        return UOp(_operand(other) // self.expr)

    def __mod__(self, other: Operand) -> UOp:
        return UOp(self.expr % _operand(other))

    def __rmod__(self, other: Operand) -> UOp:
        return UOp(_operand(other) % self.expr)

    def __neg__(self) -> UOp:
        return UOp(-self.expr)

    def __and__(self, other: Operand) -> UOp:
        return UOp(self.expr & _operand(other))

    def __or__(self, other: Operand) -> UOp:
        return UOp(self.expr | _operand(other))

    def __lt__(self, other: Operand) -> UOp:
        return UOp(self.expr < _operand(other))

    def __le__(self, other: Operand) -> UOp:
        return UOp(self.expr <= _operand(other))

    def __gt__(self, other: Operand) -> UOp:
        return UOp(self.expr > _operand(other))

    def __ge__(self, other: Operand) -> UOp:
        return UOp(self.expr >= _operand(other))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UOp) and self.expr == other.expr

    def __hash__(self) -> int:
        return hash(self.expr)

    def __repr__(self) -> str:
        return f"UOp({self.expr!r})"

    def __reduce__(self) -> tuple[type[UOp], tuple[Expr]]:
        return UOp, (self.expr,)


def _operand(value: Operand) -> Expr | int:
    if isinstance(value, UOp):
        return value.expr
    if isinstance(value, int):
        return value
    raise TypeError(f"takes a UOp of this module or a number, not {value!r}; tinygrad's own are not taken here")


def _new_variable(name: str, low: int, high: int) -> Expr:
    ranges: dict[str, Any] = {name: range(low, high + 1)}
    return Expr(name, **ranges)


_variable: Callable[[str, int, int], Expr] = lru_cache(maxsize=4096)(_new_variable)


def indexed(tracker: ShapeTracker, idxs: Iterable[Operand] | None, vexpr: Operand | None) -> tuple[UOp, UOp]:
    """The address of an element of a tracker, and the condition that it has one and that `vexpr` holds as well."""
    tinygrad = loaded()
    if tinygrad is not None:
        idxs = None if idxs is None else list(idxs)
        if not any(isinstance(value, UOp) for value in (*(idxs or ()), vexpr)):
            return _uops.indexed(tinygrad, tracker, idxs, vexpr)
    if idxs is None:
        index, valid = over_ranges(tracker)
    else:
        shape, code = tracker.shape, tracker.index_expr()
        index, valid = code.index, code.valid
        given = [_operand(value.simplify() if isinstance(value, UOp) else value) for value in idxs]
        if len(given) != len(shape):
            raise ValueError(f"to_indexed_uops: takes one index an axis: there are {len(shape)}, not {len(given)}")
        values = {f"idx{axis}": value for axis, value in enumerate(given)}
        index, valid = simplify_pair(index.substitute(**values), valid.substitute(**values))
    if vexpr is not None and vexpr is not True:
        index, valid = simplify_pair(index, valid & _operand(vexpr))
    return UOp(index, simple=True), UOp(valid, simple=True)


def view_node(tracker: Any) -> Any:
    """The node of tinygrad's graph that is a view of nothing in particular."""
    tinygrad = loaded()
    if tinygrad is None:
        sentence = "to_uop: tinygrad is not loaded, so that there is no graph that a tracker could be a node of"
        raise TypeError(f"{sentence}; to_indexed_uops() gives its address and its condition")
    return tinygrad.UOp(tinygrad.Ops.VIEW, tinygrad.dtypes.void, (), tracker)
