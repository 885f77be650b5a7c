"""`python -m compatlock`."""

from compatlock.cli.main import run

run()
