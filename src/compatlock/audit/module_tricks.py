"""Ways of a module to have names, or to make modules, that no statement tells: `globals()`, `sys.modules`,
`setattr`, `exec`, lazy loaders."""

from __future__ import annotations

import ast
import re

# Text without any of these needs no look at its expressions.
_SIGNS = re.compile(
    rb"globals\(\)|vars\(\)|setattr\(|\bexec\(|sys\.modules|__path__|meta_path|path_hooks|_LazyModule|attach|"
    rb"define_import_structure|:=|\bmodules\["
)
_SPACE = re.compile(r"\s")
_NAME = re.compile(r"[A-Za-z_]\w*")
_READS = frozenset({"get", "keys", "items", "values", "copy"})
_READERS = frozenset({"list", "sorted", "set", "tuple", "dict", "len", "print", "iter"})
_NAMESPACES = frozenset({"globals", "vars"})
_ATTACH = frozenset({"attach", "_attach"})


class Tricks:
    """What the expressions of one module say; see `modules.Summary` for the attributes."""

    def __init__(self, source: bytes, tree: ast.Module) -> None:
        self.names: set[str] = set()
        self.offered: set[str] = set()
        self.folders: set[str] = set()
        self.dynamic = self.hooks = self.lazy = self._sets_own = False
        if _SIGNS.search(source):
            self._walk(tree)

    def _walk(self, tree: ast.Module) -> None:
        nodes = list(ast.walk(tree))
        parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
        for node in nodes:
            if isinstance(node, ast.NamedExpr):
                self.names.add(node.target.id)
            elif isinstance(node, ast.Call):
                self._call(node, parents)
            elif isinstance(node, ast.Attribute):
                if node.attr in ("meta_path", "path_hooks"):
                    self.hooks = True
                elif node.attr == "modules" and isinstance(node.value, ast.Name):
                    self._sys_modules(parents[id(node)], parents)
            elif isinstance(node, ast.Name) and node.id == "__path__":
                self.hooks = True
        if self.lazy:
            # Whatever it offers, or sets on itself, is named somewhere in its text.
            texts = (node.value for node in nodes if isinstance(node, ast.Constant))
            for text in texts:
                if isinstance(text, str) and not _SPACE.search(text):
                    self.offered.update(_NAME.findall(text))
        else:
            self.dynamic |= self._sets_own

    def _call(self, node: ast.Call, parents: dict[int, ast.AST]) -> None:
        name = called(node)
        if name in _NAMESPACES and not node.args and isinstance(node.func, ast.Name):
            self.dynamic |= not _only_reads(node, parents)
        elif name == "exec" and isinstance(node.func, ast.Name):
            self.dynamic = True
        elif name == "setattr" and len(node.args) == 3:
            self._setattr(node.args[0])
        elif name == "_LazyModule" or (name in _ATTACH and _is_attach(node)):
            self.lazy = True
        elif name == "attach_stub":
            self.dynamic = True
        elif name == "define_import_structure":
            texts = [inner.value for inner in ast.walk(node) if isinstance(inner, ast.Constant)]
            self.folders.add(next((t for t in texts if isinstance(t, str) and t != "__file__"), ""))

    def _setattr(self, target: ast.expr) -> None:
        # What looks like a module may be this one.
        if "modules" in ast.dump(target) or (isinstance(target, ast.Name) and "mod" in target.id):
            self._sets_own = True

    def _sys_modules(self, user: ast.AST, parents: dict[int, ast.AST]) -> None:
        """Judge one use of `sys.modules`."""
        if not isinstance(user, ast.Subscript):
            if isinstance(user, ast.Attribute) and user.attr in ("update", "setdefault", "__setitem__"):
                self.hooks = True
            return
        outer = parents[id(user)]
        own = isinstance(user.slice, ast.Name) and user.slice.id == "__name__"
        if isinstance(user.ctx, ast.Load):
            # `module = sys.modules[__name__]`: what happens to it then is not followed.
            self._sets_own |= own and not isinstance(outer, (ast.Subscript, ast.Compare))
            return
        value = outer.value if isinstance(outer, ast.Assign) else None
        if own and isinstance(value, ast.Call) and called(value) == "_LazyModule":
            return
        self.hooks = True
        self.dynamic |= own


def called(node: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_attach(node: ast.Call) -> bool:
    """Whether it is a call of lazy_loader's `attach(__name__, submodules, submod_attrs)`."""
    first = node.args[0] if node.args else None
    return isinstance(first, ast.Name) and first.id == "__name__"


def _only_reads(node: ast.Call, parents: dict[int, ast.AST]) -> bool:
    """Whether a call of `globals()` or `vars()` is only read from, where it stands."""
    user = parents[id(node)]
    if isinstance(user, ast.Subscript):
        return isinstance(user.ctx, ast.Load)
    if isinstance(user, ast.Attribute):
        return user.attr in _READS
    if isinstance(user, ast.Call):
        return isinstance(user.func, ast.Name) and user.func.id in _READERS
    return isinstance(user, (ast.Compare, ast.For, ast.comprehension))


def told_names(node: ast.FunctionDef | ast.AsyncFunctionDef) -> set[str] | None:
    """Return the names that a module's `__getattr__` gives, when it compares its argument with them one by
    one and raises for all others; None for any other function."""
    arguments = node.args.args
    names: set[str] = set()
    return names if arguments and _raises_at_last(node.body, arguments[0].arg, names) else None


def _raises_at_last(statements: list[ast.stmt], argument: str, names: set[str]) -> bool:
    """Whether nothing but told names gets past the statements; adds these."""
    for statement in statements:
        if isinstance(statement, ast.Raise):
            return True
        if isinstance(statement, ast.If):
            if not _told_by(statement.test, argument, names):
                return False
            if statement.orelse and _raises_at_last(statement.orelse, argument, names):
                return True
        elif not isinstance(statement, (ast.Import, ast.ImportFrom, ast.Expr, ast.Assign)):
            return False
    return False


def _told_by(test: ast.expr, argument: str, names: set[str]) -> bool:
    """Whether a test holds for certain names only; adds these."""
    if isinstance(test, ast.BoolOp):
        told = [_told_by(value, argument, names) for value in test.values]
        return all(told) if isinstance(test.op, ast.Or) else any(told)
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    if not isinstance(test.left, ast.Name) or test.left.id != argument:
        return False
    given = test.comparators[0]
    if isinstance(test.ops[0], ast.In) and isinstance(given, (ast.Tuple, ast.List, ast.Set)):
        values = given.elts
    elif isinstance(test.ops[0], ast.Eq):
        values = [given]
    else:
        return False
    texts = [value.value for value in values if isinstance(value, ast.Constant)]
    names.update(text for text in texts if isinstance(text, str))
    return len(texts) == len(values)
