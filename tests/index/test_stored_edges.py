"""Dependencies as the store keeps them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from compatlock.index.stored_edges import decode_dependencies, encode_dependencies
from compatlock.model.dependencies import Dependencies, Dependency

FIELD = st.text(st.characters(exclude_categories=("Z", "C")), max_size=8)
NAME = st.from_regex(r"[a-z0-9]+(-[a-z0-9]+)?", fullmatch=True)
DEPENDENCY = st.builds(
    Dependency, NAME, FIELD.filter(lambda text: "," not in text), st.lists(NAME, max_size=2).map(tuple), FIELD
)
DEPENDENCIES = st.lists(DEPENDENCY, max_size=3).map(tuple)
RELEASE = st.builds(
    Dependencies,
    DEPENDENCIES,
    st.dictionaries(NAME, DEPENDENCIES, max_size=3),
    st.lists(NAME, max_size=3).map(tuple),
    st.just("wheel"),
    st.text(max_size=10),
    st.lists(st.text(max_size=10), max_size=2).map(tuple),
)


@given(RELEASE)
def test_what_is_stored_comes_back(release: Dependencies) -> None:
    found = decode_dependencies(encode_dependencies(release))
    assert found._replace(extras=dict(found.extras)) == release
    assert all(found.of(extra) == dependencies for extra, dependencies in release.extras.items())


def test_an_extra_that_adds_nothing() -> None:
    found = decode_dependencies(encode_dependencies(Dependencies((), {}, ("fast",))))
    assert found.of("fast") == ()
    assert found.extras == {}
    with pytest.raises(KeyError):
        found.extras["fast"]
