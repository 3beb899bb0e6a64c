"""The ladder: tables, tournaments, the exactly-once life of a match, ratings and what pages read. SQL is the truth."""
