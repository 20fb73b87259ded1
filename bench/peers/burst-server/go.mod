module trunkline-bench-burst

go 1.24

require golang.org/x/net v0.62.0
