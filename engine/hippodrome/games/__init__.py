"""The games, one folder each. Standard library and `hippodrome.engine` only."""
