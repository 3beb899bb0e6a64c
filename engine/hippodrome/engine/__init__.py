"""What every game shares: contract, chance, clock, referee, record, conformance. Standard library only."""
