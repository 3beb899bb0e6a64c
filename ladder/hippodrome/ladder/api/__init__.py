"""The control API over gRPC: accounts, bots, tournaments, ladders, matches. `python -m hippodrome.ladder.api` serves it."""
