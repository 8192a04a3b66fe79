"""tinygrad on this package's `ShapeTracker` and `View`: what `install` changes, and `uninstall` changes back.

A class is replaced wherever a function may look for it by name: in every module, and in the globals that tinygrad copies
for the functions of its compiled rules. Trackers that are in the graph already are replaced by equal ones of the other
class, so that tensors and compiled functions that were made before keep working.
"""

from __future__ import annotations

import functools
import gc
import importlib
import importlib.metadata
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import FunctionType, ModuleType
from typing import Any

from . import shapetracker as _shapetracker
from ._classes import ShapeTracker, View
from ._genuine import SUPPORTED, Tinygrad, load

__all__ = ["install", "installed", "uninstall"]

_VIEW, _TRACKER = "tinygrad.shape.view", "tinygrad.shape.shapetracker"

# The modules whose caches may hold trackers, or nodes of the graph that have one.
_MAY_HOLD = ("tinygrad.shape.", "tinygrad.uop.", "tinygrad.ops", "tinygrad.codegen.", "tinygrad.schedule.", "tinygrad.engine.")

_installed = False
# Where `install` put a class: the names of a module or a function, and the name.
_placed: list[tuple[dict[str, Any], str]] = []


def install() -> None:
    """tinygrad 0.10.3 or 0.11.0 uses this package's `ShapeTracker` and `View` from now on.

    Before or after tinygrad is imported; once more changes nothing. What cannot be installed says so and changes
    nothing: another version (ImportError), or trackers of tinygrad's own that a variable holds (RuntimeError).

        from shapetracker.compat import tinygrad as compat
        compat.install()
        from tinygrad import Tensor
    """
    global _installed
    if _installed:
        return
    _check_version()
    genuine = load()
    _exchange(genuine, {genuine.View: View, genuine.ShapeTracker: ShapeTracker})
    standing = _stand_in(genuine.view, View=View), _stand_in(
        genuine.shapetracker,
        View=View,
        ShapeTracker=ShapeTracker,
        mops=_shapetracker.mops,
        views_to_indexed_uops=_shapetracker.views_to_indexed_uops,
        views_to_real_strides=_shapetracker.views_to_real_strides,
    )
    _put(*standing)
    _installed = True


def uninstall() -> None:
    """tinygrad uses its own classes again. Where it does already nothing changes.

    Raises RuntimeError, and changes nothing, where it cannot be done.
    """
    global _installed
    if not _installed:
        return
    genuine = load()
    _exchange(genuine, {View: genuine.View, ShapeTracker: genuine.ShapeTracker})
    _put(genuine.view, genuine.shapetracker)
    _installed = False


@contextmanager
def installed() -> Iterator[None]:
    """`with installed(): ...`: as `install` before, and as `uninstall` after, unless it was installed before."""
    before = _installed
    install()
    try:
        yield
    finally:
        if not before:
            uninstall()


def _check_version() -> None:
    try:
        version = importlib.metadata.version("tinygrad")
    except importlib.metadata.PackageNotFoundError:
        sentence = f"install: there is no tinygrad here; it works with {' and '.join(SUPPORTED)} (pip install tinygrad)"
        raise ImportError(sentence) from None
    if version not in SUPPORTED:
        sentence = f"install: this is tinygrad {version}, and what is known are {' and '.join(SUPPORTED)}; nothing was changed"
        raise ImportError(sentence)


def _stand_in(module: ModuleType, **replaced: Any) -> ModuleType:
    """A module like another one with some of its names replaced; the functions in it still look into the other one."""
    standing = ModuleType(module.__name__, module.__doc__)
    standing.__dict__.update(module.__dict__)
    standing.__dict__.update(replaced)
    return standing


def _put(view: ModuleType, shapetracker: ModuleType) -> None:
    """The modules that imports find from now on."""
    shape = importlib.import_module("tinygrad.shape")
    for name, module in ((_VIEW, view), (_TRACKER, shapetracker)):
        sys.modules[name] = module
        setattr(shape, name.rpartition(".")[2], module)


def _exchange(genuine: Tinygrad, classes: dict[type, type]) -> None:
    """Every place that names a class, and every tracker in the graph, is of the other classes from now on."""
    _forget(genuine)
    nodes = [(uop, uop.arg) for uop in _graph(genuine) if type(uop.arg) in classes]
    captured = _captured()
    _check_free(genuine, classes, [st for _, st in nodes] + [st for jit in captured for st, *_ in jit])
    for uop, st in nodes:
        _replace_argument(genuine, uop, _like(st, classes))
    for jit in captured:
        jit[:] = [(_like(st, classes), *others) if type(st) in classes else (st, *others) for st, *others in jit]
    back = list(_placed)
    _placed.clear()
    own = (vars(genuine.view), vars(genuine.shapetracker))
    for names, name in [*_names_of(classes), *back]:
        value = names.get(name)
        if not any(names is other for other in own) and isinstance(value, type) and value in classes:
            names[name] = classes[value]
            _placed.append((names, name))


def _forget(genuine: Tinygrad) -> None:
    """Empties the caches that may hold trackers: answers about layouts, compiled programs, trackers of nodes.

    No others: that of devices, for one, is what makes a device the same device.
    """
    caches = (thing for thing in gc.get_objects() if type(thing) is functools._lru_cache_wrapper)
    for cache in caches:
        if str(getattr(cache, "__module__", "")).startswith(_MAY_HOLD):
            cache.cache_clear()
    realize = sys.modules.get("tinygrad.engine.realize")
    if realize is not None:
        realize.method_cache.clear()
    for uop in _graph(genuine):
        remembered = getattr(uop, "__dict__", {})
        # The order of nodes is made of their arguments.
        for name in ("st", "tuplize"):
            remembered.pop(name, None)
    gc.collect()


def _graph(genuine: Tinygrad) -> list[Any]:
    """The nodes that are alive."""
    return [uop for held in list(genuine.ops.UOpMetaClass.ucache.values()) if (uop := held()) is not None]


def _captured() -> list[list[Any]]:
    """What compiled functions expect of their arguments: lists of tuples that begin with a tracker."""
    jit = sys.modules.get("tinygrad.engine.jit")
    if jit is None:
        return []
    return [thing.expected_st_vars_dtype_device for thing in gc.get_objects() if type(thing) is jit.CapturedJit]


def _check_free(genuine: Tinygrad, classes: dict[type, type], known: list[Any]) -> None:
    """Raises where a tracker or a view is held by something else than the graph, which cannot be reached from here."""
    expected = {id(thing) for st in known for thing in (st, *st.views)}
    held = [thing for thing in gc.get_objects() if type(thing) in classes and id(thing) not in expected]
    if not held:
        return
    shown = repr(held[0])
    shown = shown if len(shown) <= 100 else shown[:97] + "..."
    sentence = (
        f"tinygrad's own classes are in use: a variable, a list or an attribute holds {len(held)} of its trackers and"
        f" views, such as {shown}. Let go of them (del; `_` or Out[..] of an interactive session, a traceback), or"
        " install before they are made; nothing was changed"
    )
    raise RuntimeError(sentence)


def _like(st: Any, classes: dict[type, type]) -> Any:
    """The same tracker of the other class."""
    fields = ("shape", "strides", "offset", "mask", "contiguous")
    views = tuple(classes[type(view)](*(getattr(view, field) for field in fields)) for view in st.views)
    return classes[type(st)](views)


def _replace_argument(genuine: Tinygrad, uop: Any, argument: Any) -> None:
    """Another argument of a node that stays the same node: what it is found by changes with it."""
    cache = genuine.ops.UOpMetaClass.ucache
    fields = [name for name in ("op", "dtype", "src", "arg", "tag") if hasattr(uop, name)]
    held = cache.pop(tuple(getattr(uop, name) for name in fields))
    uop.arg = argument
    cache[tuple(getattr(uop, name) for name in fields)] = held


def _names_of(classes: dict[type, type]) -> Iterable[tuple[dict[str, Any], str]]:
    """Where functions look for the classes by name: the names of modules, and those that tinygrad's rules have copied."""
    folder = os.path.dirname(sys.modules["tinygrad"].__file__ or "") + os.sep
    # Who names this package's classes may mean them: when they go, tinygrad alone is searched.
    leaving = View in classes

    def changeable(module: str) -> bool:
        return module.startswith("tinygrad.") if leaving else module.split(".")[0] != "shapetracker"

    modules = [(name, module) for name, module in list(sys.modules.items()) if module is not None]
    everywhere = [vars(module) for name, module in modules if changeable(name)]
    functions = [thing for thing in gc.get_objects() if type(thing) is FunctionType]
    everywhere += [thing.__globals__ for thing in functions if thing.__code__.co_filename.startswith(folder)]
    for names in {id(names): names for names in everywhere}.values():
        for name, value in list(names.items()):
            if isinstance(value, type) and value in classes:
                yield names, name
