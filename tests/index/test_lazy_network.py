"""The network that is set up late."""

from __future__ import annotations

import subprocess
import sys

from pypi_simple import PYPI_SIMPLE_ENDPOINT

from compatlock.index.lazy_network import _public_index


def test_the_public_index_is_what_pypi_simple_says() -> None:
    assert _public_index() == PYPI_SIMPLE_ENDPOINT


def test_finding_it_does_not_import_an_html_parser() -> None:
    program = """
import sys
from compatlock.index.lazy_network import _public_index
_public_index()
print(sorted({"pypi_simple", "bs4", "requests"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, check=True)
    assert done.stdout.strip() == "[]"
