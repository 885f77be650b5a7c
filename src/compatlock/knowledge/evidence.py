"""Evidence of facts, by type: each kept precise enough to be run again by `verify`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from compatlock.knowledge.fields import (
    Line,
    ProjectName,
    Regex,
    Root,
    Specifier,
    Text,
    WebAddress,
)


class Strict(BaseModel):
    """A table of a facts or profile file: unknown keys and wrong types are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class MetadataEvidence(Strict):
    """`package` `version` declares `requires`, a Requires-Dist line."""

    type: Literal["metadata"]
    package: ProjectName
    version: Text
    requires: Root


class LintEvidence(Strict):
    """A static checker, run as `cmd`, says `expect`."""

    type: Literal["lint"]
    cmd: Line
    expect: Line


class ExecutedEvidence(Strict):
    """It was installed and run: what was done, and what came out."""

    type: Literal["executed"]
    cmd: Line
    expect: Line


class UrlEvidence(Strict):
    """A public report, change or document."""

    type: Literal["url"]
    url: WebAddress


class _Member(Strict):
    """A file inside a wheel: of one `wheel` (file name), or of one `version` of `package`, or told apart
    by `present` and `absent` (specifiers of the releases that have what is looked for and that lack it).
    """

    wheel: Text | None = None
    package: ProjectName | None = None
    version: Text | None = None
    present: Specifier | None = None
    absent: Specifier | None = None
    member: Text

    @model_validator(mode="after")
    def _names_a_release(self) -> _Member:
        if self.wheel is not None:
            if self.package or self.version or self.present or self.absent:
                raise ValueError("wheel: names one file; leave out package, version, present and absent")
        elif self.package is None:
            raise ValueError("wheel: missing (or give package and version)")
        elif (self.version is None) == (self.present is None and self.absent is None):
            raise ValueError("version: give it, or present and absent, not both")
        return self


class MemberImportEvidence(_Member):
    """The member imports `imports`, written `module:name,name`."""

    type: Literal["member_import"]
    imports: Line


class MemberSymbolEvidence(_Member):
    """The member defines `symbol`."""

    type: Literal["member_symbol"]
    symbol: Line


class MemberRegexEvidence(_Member):
    """`regex` is found in the member."""

    type: Literal["member_regex"]
    regex: Regex


class ElfNeededEvidence(_Member):
    """The ELF object needs the shared library `needed` (DT_NEEDED)."""

    type: Literal["elf_needed"]
    needed: Line


class Provider(Strict):
    """Where a symbol comes from: `member` of `package` has it in `present` and lacks it in `absent`."""

    package: ProjectName
    member: Text
    present: Specifier
    absent: Specifier


class ElfUndefinedEvidence(_Member):
    """The ELF object leaves `symbol` undefined, or at least `min_count` that match `symbol_regex`."""

    type: Literal["elf_undefined"]
    symbol: Line | None = None
    symbol_regex: Regex | None = None
    min_count: Annotated[int, Field(ge=1)] = 1
    provider: Provider | None = None

    @model_validator(mode="after")
    def _one_symbol(self) -> ElfUndefinedEvidence:
        if (self.symbol is None) == (self.symbol_regex is None):
            raise ValueError("symbol: give it, or symbol_regex, not both")
        return self


class OverlapEvidence(Strict):
    """The wheels `a` and `b` own `files` paths in common, `differ` of them with different content."""

    type: Literal["overlap"]
    a: Text
    b: Text
    files: Annotated[int, Field(ge=1)]
    differ: Annotated[int, Field(ge=1)]


MemberEvidence = (
    MemberImportEvidence
    | MemberSymbolEvidence
    | MemberRegexEvidence
    | ElfNeededEvidence
    | ElfUndefinedEvidence
)

Evidence = Annotated[
    MetadataEvidence
    | LintEvidence
    | ExecutedEvidence
    | UrlEvidence
    | MemberImportEvidence
    | MemberSymbolEvidence
    | MemberRegexEvidence
    | ElfNeededEvidence
    | ElfUndefinedEvidence
    | OverlapEvidence,
    Field(discriminator="type"),
]
