"""The engine node: bot sessions, running matches, launched bots. `hippodrome.service.node.serve` starts one in a process."""
