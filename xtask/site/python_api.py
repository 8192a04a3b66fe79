"""Writes the API of the installed Python package as pages: python_api.py FOLDER TEMPLATES MODULE...

Of the native classes the module has the docstrings, in an order that is another one each time; `_native.pyi` has their types, and
the order of the pages.
"""

from __future__ import annotations

import re
import sys
import types
from functools import cached_property
from pathlib import Path

import pdoc
import pygments.formatters
from pdoc import doc, doc_pyi, render

import shapetracker

folder, templates, modules = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]
package = Path(shapetracker.__file__).parent
native, stand_in = package / "_native.pyi", package / "compat/tinygrad/_classes.pyi"


def imported(name: str, file: Path) -> types.ModuleType:
    """A stub as a module. What it says of types may name what comes later: aliases are read last, and annotations when asked."""
    lines = re.sub(r"\bslice\[[^]]*\]", "slice", file.read_text()).splitlines()  # Python subscribes it from 3.14 on
    aliases = [re.fullmatch(r"(\w+): TypeAlias = (.*)", line) for line in lines]
    rest = [line if alias is None else "" for line, alias in zip(lines, aliases)]
    last = [f"{alias[1]} = " + re.sub(rf"\b{alias[1]}\b", f"'{alias[1]}'", alias[2]) for alias in aliases if alias]
    module = types.ModuleType(name)
    module.__file__ = str(file)
    exec(compile("\n".join(rest + last), file, "exec", flags=annotations.compiler_flag), vars(module))
    return module


doc_pyi.find_stub_file = lambda name: stand_in if ".compat" in name else native
doc_pyi._import_stub_file = imported
names = {native: "shapetracker._native", stand_in: "shapetracker.compat.tinygrad._classes"}
stubs = {file: imported(name, file) for file, name in names.items()}
members = doc.Class._member_objects.func


def in_order(self: doc.Class) -> dict[str, object]:
    stub, found = stubs[doc_pyi.find_stub_file(self.modulename)], members(self)
    order = [*vars(getattr(stub, self.qualname, object))]
    place = {name: order.index(name) if name in order else len(order) for name in found}
    return {name: found[name] for name in sorted(found, key=lambda name: (place[name], name))}


doc.Class._member_objects = cached_property(in_order)
doc.Class._member_objects.__set_name__(doc.Class, "_member_objects")

templates.mkdir(parents=True, exist_ok=True)
colours = pygments.formatters.HtmlFormatter(style="github-dark").get_style_defs(".pdoc-code")
style = Path(__file__).with_name("custom.css").read_text()
(templates / "custom.css").write_text(f"{style}\n@media (prefers-color-scheme: dark) {{\n{colours}\n}}\n")
render.configure(template_directory=templates, show_source=False, docformat="markdown")
pdoc.pdoc(*modules, output_directory=folder)
