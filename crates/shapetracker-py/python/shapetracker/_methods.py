"""Methods of NumPy's arrays, of PyTorch's and JAX's tensors and of einops on trackers: those of the library's table that `ShapeTracker`
does not have itself, read by the library's reader as it reads them in a text."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

from ._native import ParseError, ShapeTracker, Sym, methods

__all__: list[str] = []

# What is about memory, types and libraries: of a tracker, which only says where elements are, it would change nothing.
_OF_MEMORY = frozenset(
    "to clone copy astype array asarray asanyarray asfortranarray ascontiguousarray detach requires_grad_ numpy from_numpy".split()
)
# What takes other tensors or slices, which an index on a tracker says.
_NAME = re.compile(r"[^\W\d]\w*")
_OF_OTHERS = frozenset("view_as reshape_as expand_as reinterpret_tensor slice".split())


def _said(name: str, value: Any) -> str:
    """An argument as the reader reads it."""
    if value is None or value is True or value is False or isinstance(value, str):
        return repr(value)
    if isinstance(value, Sym):
        return str(value)
    if isinstance(value, (list, tuple)):
        inside = ", ".join(_said(name, item) for item in value)
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    try:
        return str(operator.index(value))
    except TypeError:
        kind = type(value).__name__
        raise TypeError(f"{name}: takes numbers, names, texts and tuples of them, not {value!r} ({kind})") from None


def _names(value: Any) -> dict[str, tuple[int | None, int | None]]:
    """The names in an argument, with what is known of each."""
    if isinstance(value, Sym):
        return dict(value.names)
    if isinstance(value, (list, tuple)):
        return {name: ends for item in value for name, ends in _names(item).items()}
    return {}


def _over(tracker: ShapeTracker[Any], call: str, arguments: Any) -> ShapeTracker[Any]:
    """The row-major tracker of a tracker's shape after a call."""
    shape, given = _said("shape", tracker.shape), _names(arguments)
    if not tracker.names and not given:
        return ShapeTracker.parse(shape + call)
    # What is said of names that the shape and the call do not have is said by the tracker itself.
    there = {*_NAME.findall(shape), *given}
    facts = [fact for fact in tracker.known.split(", ") if fact and there.issuperset(_NAME.findall(fact))]
    for name, (lo, hi) in given.items():
        if name not in tracker.names:
            facts.append(f"{name}={'' if lo is None else lo}..{'' if hi is None else hi + 1}")
    return ShapeTracker.parse(shape + call, where=", ".join(facts))


def _method(name: str, several: bool) -> Callable[..., Any]:
    def method(self: ShapeTracker[Any], *arguments: Any, **options: Any) -> Any:
        said = [_said(name, value) for value in arguments] + [f"{key}={_said(name, value)}" for key, value in options.items()]
        call, values = f".{name}({', '.join(said)})", (*arguments, *options.values())
        if not several:
            return self.then(_over(self, call, values))
        parts = [self.then(_over(self, f"{call}[0]", values))]
        while True:
            try:
                parts.append(self.then(_over(self, f"{call}[{len(parts)}]", values)))
            except (ParseError, ValueError):
                return tuple(parts)

    return method


def _attribute(name: str) -> property:
    def attribute(self: ShapeTracker[Any]) -> ShapeTracker[Any]:
        return self.then(_over(self, f".{name}", ()))

    return property(attribute)


def _add_methods() -> None:
    for name, signature, says, library in methods():
        if name in vars(ShapeTracker) or name in _OF_MEMORY or name in _OF_OTHERS:
            continue
        several = signature.endswith("[index]")
        is_attribute = signature == name
        made: Any = _attribute(name) if is_attribute else _method(name, several)
        words = says if not several else f"{says} All of them, as a tuple."
        target = made.fget if is_attribute else made
        target.__name__, target.__qualname__ = name, f"ShapeTracker.{name}"
        made.__doc__ = f"{words} As in {library}: `{signature.removesuffix('[index]')}`." if library else words
        setattr(ShapeTracker, name, made)
    # The table has this one as another name.
    setattr(ShapeTracker, "view", ShapeTracker.reshape)


_add_methods()
