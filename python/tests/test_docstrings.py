"""Docstrings follow numpydoc: a summary, every parameter, the return value, and an example."""

import contextlib
import importlib
import inspect
import re

import pytest
import sparring as sp

SECTION = re.compile(r"(?<=\n\n)(\w[\w ]*)\n-{3,}\n")


def sections(of):
    """The text before the first section, and the sections by name."""
    parts = SECTION.split(inspect.cleandoc(of.__doc__ or ""))
    return parts[0].strip(), dict(zip(parts[1::2], parts[2::2]))


def public():
    """Everything written in Python: functions and classes, and their methods."""
    modules = [sp, sp.graph, sp.neighbors]
    with contextlib.suppress(ImportError):
        # Only in a build with MPI.
        modules.append(importlib.import_module("sparring.cluster"))
    for module in modules:
        for name in module.__all__:
            try:
                of = getattr(module, name)
            except ImportError:
                continue
            if (inspect.isfunction(of) or inspect.isclass(of)) and of.__module__.startswith("sparring."):
                path = f"{module.__name__}.{name}"
                yield path, of
                for method, function in inspect.getmembers(of, inspect.isfunction) if inspect.isclass(of) else ():
                    if not method.startswith("_") and function.__module__.startswith("sparring."):
                        yield f"{path}.{method}", function


# Classes of the compiled module document themselves.
PUBLIC = {path: of for path, of in public() if not path.endswith((".Graph", ".Index"))}


@pytest.mark.parametrize("path", PUBLIC)
def test_docstring(path):
    of = PUBLIC[path]
    summary, found = sections(of)
    first = summary.split("\n")[0]
    assert first and first[0].isupper() and len(first) < 120, "a summary of one line"
    if not (inspect.isclass(of) and issubclass(of, tuple)):
        arguments = [name for name in inspect.signature(of).parameters if name != "self"]
        named = re.findall(r"^(\*{0,2}\w[\w, ]*)(?: : |$)", found.get("Parameters", ""), re.MULTILINE)
        named = [part.strip().lstrip("*") for names in named for part in names.split(",")]
        assert sorted(named) == sorted(arguments), "every parameter once"
        lines = found.get("Parameters", "").split("\n")
        for line, following in zip(lines, lines[1:] + [""]):
            assert line.startswith(" ") or not line or following.startswith("    "), f"what {line!r} means"
    if inspect.isfunction(of):
        assert re.match(r"\S", found.get("Returns", "")), "what is returned"
    # Methods of estimators are covered by the examples of their classes.
    if path.count(".") - path.startswith(("sparring.cluster", "sparring.graph", "sparring.neighbors")) < 2:
        assert ">>> " in found.get("Examples", ""), "an example"
    assert list(found) == [s for s in ["Parameters", "Attributes", "Returns", "Raises", "Examples"] if s in found]
