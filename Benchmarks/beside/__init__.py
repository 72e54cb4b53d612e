"""What people use instead of TokenVault, and the harness that measures it. `Benchmarks/peers` runs it."""
