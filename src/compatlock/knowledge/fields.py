"""Field types of facts and profile files: text that is checked by `packaging` and normalised."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from packaging.utils import InvalidName, canonicalize_name
from pydantic import AfterValidator, BeforeValidator, Field

from compatlock.errors import InputError
from compatlock.model.cuda import CUDA, check_cuda, check_driver
from compatlock.model.platforms import parse_platform

_IDENTIFIER = re.compile(r"[a-z0-9]+(?:[._-][a-z0-9]+)*\Z")
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*\Z")
_EDGE = re.compile(r"([A-Za-z0-9._-]+)\s*(?:\[\s*([A-Za-z0-9._-]+)\s*\])?\s*->\s*([A-Za-z0-9._-]+)\Z")
_PYTHON = re.compile(r"3\.\d+(?:\.\d+)?\Z")


def edge_parts(edge: str) -> tuple[str, str, str]:
    """Return (package, extra or `""`, on) of `package[extra] -> on`. Raises ValueError for other text."""
    match = _EDGE.match(edge.strip())
    if match is None:
        raise ValueError(
            f"`{edge}` is not an edge; write `package -> dependency` or `package[extra] -> dependency`"
        )
    return project_name(match[1]), project_name(match[2]) if match[2] else "", project_name(match[3])


def project_name(text: str) -> str:
    """Return a project or extra name normalised (PEP 503, PEP 685). Raises ValueError when it is none."""
    try:
        return canonicalize_name(text, validate=True)
    except InvalidName:
        raise ValueError(f"`{text}` is not a package name") from None


def parse_root(text: str) -> Requirement:
    """Return a root requirement (PEP 508). Raises ValueError when it is invalid or names a URL."""
    try:
        requirement = Requirement(text)
    except InvalidRequirement as error:
        reason = str(error).split("\n", 1)[0]
        raise ValueError(f"`{text}` is not a requirement: {reason[:1].lower()}{reason[1:]}") from None
    for name in (requirement.name, *sorted(requirement.extras)):
        project_name(name)  # `a_` passes the parser
    if requirement.url is not None:
        raise ValueError(f"`{requirement.name}` names a URL; a profile can only name packages of the index")
    return requirement


def _specifier(text: str) -> str:
    if text.strip() == "*":
        return ""
    try:
        return str(SpecifierSet(text))
    except InvalidSpecifier:
        raise ValueError(f"`{text}` is not a version specifier (like `>=1.0,<2`)") from None


def _bound(text: str) -> str:
    if text.strip() == "*":
        raise ValueError('`*` bounds nothing; leave it out, or write ""')
    return _specifier(text)


def _matching(pattern: re.Pattern[str], what: str) -> AfterValidator:
    def check(text: str) -> str:
        if pattern.match(text) is None:
            raise ValueError(f"`{text}` is not {what}")
        return text

    return AfterValidator(check)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise ValueError("must be a specifier or an array of specifiers")
    return value


def _not_blank(text: str) -> str:
    if not text.strip():
        raise ValueError("must not be empty")
    return text.strip()


def _one_line(text: str) -> str:
    if "\n" in text:
        raise ValueError("must be one line")
    return text


def _web_address(text: str) -> str:
    if not text.startswith("https://"):
        raise ValueError(f"`{text}` is not an https:// address")
    return text


def _regular_expression(text: str) -> str:
    try:
        re.compile(text)
    except re.error as error:
        raise ValueError(f"`{text}` is not a regular expression: {error}") from None
    return text


def _checked(check: Callable[[str], str]) -> AfterValidator:
    """A check of the model's, whose InputError says what is wrong."""

    def validate(text: str) -> str:
        try:
            return check(text)
        except InputError as error:
            raise ValueError(error.message) from None

    return AfterValidator(validate)


def _root(text: str) -> str:
    return str(parse_root(text))


def _edge(text: str) -> str:
    package, extra, on = edge_parts(text)
    return f"{package}[{extra}] -> {on}" if extra else f"{package} -> {on}"


Text = Annotated[str, AfterValidator(_not_blank)]
Line = Annotated[Text, AfterValidator(_one_line)]
Identifier = Annotated[str, _matching(_IDENTIFIER, "an id (lower-case letters, digits, `-`, `_`, `.`)")]
DottedName = Annotated[str, _matching(_DOTTED, "a dotted name (like `package.module`)")]
PythonVersion = Annotated[str, _matching(_PYTHON, "a Python version (like `3.12`)")]
ProjectName = Annotated[str, AfterValidator(project_name)]
OtherEnd = Annotated[str, AfterValidator(lambda text: text if text == CUDA else project_name(text))]
Specifier = Annotated[str, AfterValidator(_specifier)]
Bound = Annotated[str, AfterValidator(_bound)]
Versions = Annotated[list[Specifier], BeforeValidator(_as_list), Field(min_length=1)]
WebAddress = Annotated[str, AfterValidator(_web_address)]
Regex = Annotated[str, AfterValidator(_regular_expression)]
PlatformName = Annotated[str, _checked(lambda text: parse_platform(text).name)]
CudaVersion = Annotated[str, _checked(check_cuda)]
DriverVersion = Annotated[str, _checked(check_driver)]
Root = Annotated[str, AfterValidator(_root)]
EdgeText = Annotated[str, AfterValidator(_edge)]
