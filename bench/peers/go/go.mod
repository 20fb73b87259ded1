module trunkline.invalid/bench

go 1.24
