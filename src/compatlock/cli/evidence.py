"""Evidence of facts in words."""

from __future__ import annotations

from compatlock.knowledge import evidence as kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.knowledge.evidence import Evidence


def evidence_line(item: Evidence) -> str:
    """Return what one piece of evidence says, on one line."""
    if isinstance(item, kinds.MetadataEvidence):
        return f"declared: {item.package} {item.version} requires {item.requires}"
    if isinstance(item, kinds.LintEvidence):
        return f"checked: {item.cmd} -> {item.expect}"
    if isinstance(item, kinds.ExecutedEvidence):
        return f"executed: {item.cmd} -> {item.expect}"
    if isinstance(item, kinds.UrlEvidence):
        return f"reported: {item.url}"
    if isinstance(item, kinds.OverlapEvidence):
        return f"files: {item.a} and {item.b} share {item.files} paths, {item.differ} with different content"
    return f"read: {_finding(item)}"


def _finding(item: kinds.MemberEvidence) -> str:
    where = _place(item)
    if isinstance(item, kinds.MemberImportEvidence):
        return f"{where} imports {item.imports}"
    if isinstance(item, kinds.MemberSymbolEvidence):
        return f"{where} defines {item.symbol}{_releases(item)}"
    if isinstance(item, kinds.MemberRegexEvidence):
        return f"{where} has `{item.regex}`{_releases(item)}"
    if isinstance(item, kinds.ElfNeededEvidence):
        return f"{where} needs {item.needed}{_releases(item)}"
    return f"{where} leaves {_undefined(item)} undefined{_releases(item)}"


def _place(item: kinds.MemberEvidence) -> str:
    if item.wheel:
        return f"{item.member} of {item.wheel}"
    version = f" {item.version}" if item.version else ""
    return f"{item.member} of {item.package}{version}"


def _releases(item: kinds.MemberEvidence) -> str:
    """In which releases it was found, and in which not."""
    found = f" in {item.present}" if item.present else ""
    return found + (f", not in {item.absent}" if item.absent else "")


def _undefined(item: kinds.ElfUndefinedEvidence) -> str:
    if item.symbol is None:
        return f"at least {item.min_count} symbols that match `{item.symbol_regex}`"
    if item.provider is None:
        return item.symbol
    who = item.provider
    return f"{item.symbol} (in {who.member} of {who.package} {who.present}, not {who.absent})"
