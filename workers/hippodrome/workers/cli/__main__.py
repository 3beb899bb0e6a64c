"""`python -m hippodrome.workers.cli` is `hippodrome`."""

from hippodrome.workers.cli import main

main()
