"""Pictures and tables of docs/performance.md, made from the samples in results/. `Benchmarks/plots` runs it."""
