"""Evidence as claims about files that an audit can check again."""

from __future__ import annotations

from compatlock.knowledge import evidence as kinds
from compatlock.model import evidence as model
from compatlock.model.evidence import Claim, Look, OverlapClaim

TYPE_CHECKING = False
if TYPE_CHECKING:
    from compatlock.knowledge.evidence import Evidence, MemberEvidence

_NOT_HERE = {
    "executed": "it was executed; what is checked here is files",
    "lint": "a static checker has to run for it",
    "url": "a report on the web",
}


# What a piece of evidence claims: of members, all of which have to be so, or of two wheels; or why that
# cannot be checked by looking into files.
Claims = tuple[Claim, ...] | OverlapClaim | str


def claims_of(item: Evidence) -> Claims:
    """Return what a piece of evidence claims."""
    if isinstance(item, (kinds.ExecutedEvidence, kinds.LintEvidence, kinds.UrlEvidence)):
        return _NOT_HERE[item.type]
    if isinstance(item, kinds.OverlapEvidence):
        return OverlapClaim(item.a, item.b, item.files, item.differ)
    if isinstance(item, kinds.MetadataEvidence):
        look = Look(model.REQUIRES, "METADATA", item.requires)
        return (Claim(look, package=item.package, version=item.version),)
    claim = Claim(
        _look(item), item.wheel or "", item.package or "", item.version or "", item.present, item.absent
    )
    provider = item.provider if isinstance(item, kinds.ElfUndefinedEvidence) else None
    if provider is None or not isinstance(item, kinds.ElfUndefinedEvidence) or item.symbol is None:
        return (claim,)
    look = Look(model.SYMBOL, provider.member, item.symbol)
    given = Claim(look, package=provider.package, present=provider.present, absent=provider.absent)
    return claim, given


def _look(item: MemberEvidence) -> Look:
    if isinstance(item, kinds.MemberImportEvidence):
        return Look(model.IMPORTS, item.member, item.imports)
    if isinstance(item, kinds.MemberSymbolEvidence):
        return Look(model.SYMBOL, item.member, item.symbol)
    if isinstance(item, kinds.MemberRegexEvidence):
        return Look(model.REGEX, item.member, item.regex)
    if isinstance(item, kinds.ElfNeededEvidence):
        return Look(model.NEEDS, item.member, item.needed)
    if item.symbol is not None:
        return Look(model.LEAVES, item.member, item.symbol)
    return Look(model.LEAVES_LIKE, item.member, item.symbol_regex or "", item.min_count)
