"""Walks the statements of a module for `modules.summarise`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from compatlock.audit.module_tricks import Tricks, called, told_names
from compatlock.audit.source import NOT_UNDERSTOOD, parse_source

# The same numbers as in modules.py; SKIP is for imports that nothing follows from.
_NOW, _CHOSEN, _LATER, _TYPING, _SKIP = range(5)
_MAX_SOURCE = 4 * 1024 * 1024
# A condition that compares versions or platforms decides more than what is there.
_DECIDES = re.compile(
    r"version|_greater|_less|_ge_|platform|os\.name|hip|rocm|minimum|\bhas_|hasattr|getattr|find_spec|==|>|<",
    re.IGNORECASE,
)

Found = tuple[str, str, int, int, bool]


class Scan:
    """What the statements of one module say; see `modules.Summary` for the attributes."""

    def __init__(self, module: str, *, is_package: bool) -> None:
        self.names: set[str] = set()
        self.offered: set[str] = set()
        self.folders: set[str] = set()
        self.imports: list[Found] = []
        self.stars: set[str] = set()
        self.dynamic = self.hooks = self.lazy = False
        self._package = module.split(".") if is_package else module.split(".")[:-1]
        self._getattr = False
        self._typing_names: set[str] = set()
        self._typing: list[Found] = []
        # What `import x.y as z` bound, while it was bound once and unconditionally.
        self._bound: dict[str, str] = {}
        self._rebound: set[str] = set()
        self._uses: list[tuple[str, str, int]] = []

    def read(self, source: bytes) -> bool:
        """Take in a module's text; False when it is none that this interpreter understands."""
        if len(source) > _MAX_SOURCE:
            return False
        try:
            tree = parse_source(source)
            self._block(tree.body, _NOW)
            tricks = Tricks(source, tree)
        except NOT_UNDERSTOOD:
            return False
        self.names |= tricks.names
        self.offered |= tricks.offered
        self.folders |= tricks.folders
        self.dynamic |= tricks.dynamic
        self.hooks |= tricks.hooks
        self.lazy = tricks.lazy
        if self.lazy:
            self.imports += self._typing
            self.offered |= self._typing_names
        elif self._getattr:
            self.dynamic = True
        for name, attribute, line in self._uses:
            if name in self._bound and name not in self._rebound:
                self.imports.append((self._bound[name], attribute, line, _NOW, True))
        return True

    # Statements

    def _block(self, statements: Iterable[ast.stmt], when: int) -> None:
        for statement in statements:
            self._statement(statement, when)

    def _statement(self, node: ast.stmt, when: int) -> None:
        if isinstance(node, ast.Import):
            self._import(node, when)
        elif isinstance(node, ast.ImportFrom):
            self._import_from(node, when)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name == "__getattr__":
                self._own_getattr(node)
            else:
                self._bind(node.name, when)
            self._look_up([*node.decorator_list, *node.args.defaults], when)
            self._function(node.body, _LATER if when in (_NOW, _CHOSEN) else when)
        elif isinstance(node, ast.ClassDef):
            self._bind(node.name, when)
            self._look_up(node.decorator_list + node.bases, when)
            self._class(node.body, when)
        elif isinstance(node, ast.If):
            self._if(node, when)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self._with(node, when)
        elif isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            self._try(node, when)  # type: ignore[arg-type]
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            self._targets(node.target, when)
            self._block([*node.body, *node.orelse], max(when, _CHOSEN))
        elif isinstance(node, ast.While):
            self._block([*node.body, *node.orelse], max(when, _CHOSEN))
        elif isinstance(node, ast.Match):
            self._match(node, when)
        else:
            self._simple(node, when)

    def _simple(self, node: ast.stmt, when: int) -> None:
        if isinstance(node, (ast.Assign, ast.AugAssign, ast.AnnAssign)):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                self._targets(target, when)
            if node.value is not None:
                self._look_up([node.value], when)
        elif isinstance(node, ast.Global):
            self.names.update(node.names)
        elif type(node).__name__ == "TypeAlias":
            self._targets(node.name, when)  # type: ignore[attr-defined]

    def _targets(self, node: ast.expr, when: int) -> None:
        if isinstance(node, ast.Name):
            self._bind(node.id, when)
        elif isinstance(node, (ast.Tuple, ast.List)):
            for part in node.elts:
                self._targets(part, when)
        elif isinstance(node, ast.Starred):
            self._targets(node.value, when)

    def _bind(self, name: str, when: int) -> None:
        """Note a name of the module's own; functions bind nothing (they are not walked for names)."""
        if when == _TYPING:
            self._typing_names.add(name)
            return
        self.names.add(name)
        self._rebound.add(name)
        self._getattr |= name == "__getattr__"

    def _own_getattr(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """A module's `__getattr__` (PEP 562); many only keep a few names that are told."""
        told = told_names(node)
        self.dynamic |= told is None
        self.names |= {node.name, *(told or ())}

    def _function(self, statements: Iterable[ast.stmt], when: int) -> None:
        inner = _Inner(self, when)
        inner.block(statements, when)

    def _class(self, statements: Iterable[ast.stmt], when: int) -> None:
        """A class's body is carried out with the module, but its names are its own."""
        _Inner(self, when).block(statements, when)

    def _if(self, node: ast.If, when: int) -> None:
        body, orelse = branches(node.test, when)
        self._block(node.body, body)
        self._block(node.orelse, orelse)

    def _with(self, node: ast.With | ast.AsyncWith, when: int) -> None:
        for item in node.items:
            if item.optional_vars is not None:
                self._targets(item.optional_vars, when)
        self._block(node.body, within(node, when))

    def _try(self, node: ast.Try, when: int) -> None:
        caught = _SKIP if node.handlers else when
        self._block(node.body, caught)
        for handler in node.handlers:
            if handler.name:
                self._bind(handler.name, when)
            self._block(handler.body, _SKIP)
        self._block(node.orelse, max(when, _CHOSEN) if node.handlers else when)
        self._block(node.finalbody, when)

    def _match(self, node: ast.Match, when: int) -> None:
        for inner in ast.walk(node):
            if isinstance(inner, (ast.MatchAs, ast.MatchStar)) and inner.name:
                self._bind(inner.name, when)
        for case in node.cases:
            self._block(case.body, _SKIP)

    # Imports

    def _import(self, node: ast.Import, when: int) -> None:
        for alias in node.names:
            self.note(alias.name, "", node.lineno, when)
            name = alias.asname or alias.name.partition(".")[0]
            bound = alias.name if alias.asname else name
            if name in self.names and self._bound.get(name) != bound:
                self._rebound.add(name)
            if when == _TYPING:
                self._typing_names.add(name)
                continue
            self.names.add(name)
            if when != _NOW:
                self._rebound.add(name)
            self._bound[name] = bound

    def _import_from(self, node: ast.ImportFrom, when: int) -> None:
        module = self.absolute(node)
        for alias in node.names:
            if alias.name == "*":
                self._star(module, node.lineno, when)
                continue
            if module:
                self.note(module, alias.name, node.lineno, when)
            self._bind(alias.asname or alias.name, when)

    def _star(self, module: str, line: int, when: int) -> None:
        if not module:
            self.dynamic = True
        elif when == _TYPING:
            self._typing.append((module, "", line, _TYPING, False))
        else:
            self.stars.add(module)
            self.note(module, "", line, when)

    def absolute(self, node: ast.ImportFrom) -> str:
        """The module that a `from` names, `""` when it leads out of the package."""
        if not node.level:
            return node.module or ""
        keep = len(self._package) - node.level + 1
        if keep <= 0:
            return ""
        return ".".join([*self._package[:keep], *([node.module] if node.module else [])])

    def note(self, module: str, name: str, line: int, when: int) -> None:
        """Note an import, unless nothing follows from it."""
        if when == _TYPING:
            self._typing.append((module, name, line, when, False))
        elif when != _SKIP:
            self.imports.append((module, name, line, when, False))

    def _look_up(self, expressions: Iterable[ast.expr], when: int) -> None:
        """Note `x.name` in expressions that are evaluated whenever the module is imported."""
        if when != _NOW:
            return
        for node in expressions:
            while isinstance(node, ast.Call):
                node = node.func
            if (
                isinstance(node, ast.Attribute)
                and isinstance(node.value, ast.Name)
                and node.value.id in self._bound
            ):
                self._uses.append((node.value.id, node.attr, node.lineno))


class _Inner:
    """The statements of functions and classes: imports count, names do not."""

    def __init__(self, scan: Scan, when: int) -> None:
        self._scan = scan
        self._when = when

    def block(self, statements: Iterable[ast.stmt], when: int) -> None:
        for node in statements:
            self._statement(node, when)

    def _statement(self, node: ast.stmt, when: int) -> None:
        scan = self._scan
        if isinstance(node, ast.Import):
            for alias in node.names:
                scan.note(alias.name, "", node.lineno, when)
        elif isinstance(node, ast.ImportFrom):
            module = scan.absolute(node)
            for alias in node.names:
                if module:
                    scan.note(module, "" if alias.name == "*" else alias.name, node.lineno, when)
        elif isinstance(node, ast.Global):
            scan.names.update(node.names)
        elif isinstance(node, ast.If):
            body, orelse = branches(node.test, when)
            self.block(node.body, body)
            self.block(node.orelse, orelse)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            self.block(node.body, within(node, when))
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self.block(node.body, _LATER if when in (_NOW, _CHOSEN) else when)
        else:
            self._blocks(node, when)

    def _blocks(self, node: ast.stmt, when: int) -> None:
        """Statements that hold others; those of a `try` are caught."""
        handlers = getattr(node, "handlers", ())
        for statements in _bodies(node):
            self.block(statements, _SKIP if handlers or isinstance(node, ast.Match) else when)
        for handler in handlers:
            self.block(handler.body, _SKIP)


def _bodies(node: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        found = getattr(node, field, None)
        if isinstance(found, list):
            yield found
    for case in getattr(node, "cases", ()):
        yield case.body


def branches(test: ast.expr, when: int) -> tuple[int, int]:
    """When the two branches of an `if` are carried out, the `if` itself being carried out `when`."""
    negated = isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)
    text = ast.unparse(test)
    if text in ("TYPE_CHECKING", "typing.TYPE_CHECKING", "t.TYPE_CHECKING", "False", "0"):
        return _TYPING, when
    if text in ("not TYPE_CHECKING", "not typing.TYPE_CHECKING", "True", "1"):
        return when, _TYPING
    if text == "TYPE_CHECKING or DIFFUSERS_SLOW_IMPORT":
        return _TYPING, when
    if when in (_TYPING, _SKIP):
        return when, when
    if negated or _DECIDES.search(text) or (when != _LATER and "available" not in text):
        return _SKIP, _SKIP
    return max(when, _CHOSEN), _SKIP


def within(node: ast.With | ast.AsyncWith, when: int) -> int:
    """When the body of a `with` is carried out. Most context managers around imports catch their failure."""
    calls = [item.context_expr for item in node.items]
    if all(isinstance(call, ast.Call) and called(call) == "catch_warnings" for call in calls):
        return when
    return when if when == _TYPING else _SKIP
