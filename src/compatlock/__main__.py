"""`python -m compatlock`."""

from compatlock.cli.main import main

main()
