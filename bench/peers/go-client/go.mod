module trunkline-bench-client

go 1.24
