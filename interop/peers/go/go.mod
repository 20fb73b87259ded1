module trunkline.invalid/interop

go 1.24
