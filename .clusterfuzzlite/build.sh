#!/bin/bash -eu
# Builds every target of fuzz/ and packs its seeds. $SRC and $OUT are the image's.
cd "$SRC/trunkline"
# The targets need what cargo-fuzz needs; the file names the compiler of everything else.
rm -f rust-toolchain.toml
cargo fuzz build --fuzz-dir fuzz -O --debug-assertions
for target in fuzz/fuzz_targets/*.rs; do
  name=$(basename "$target" .rs)
  cp "fuzz/target/x86_64-unknown-linux-gnu/release/$name" "$OUT/"
  if [ -d "fuzz/seeds/$name" ]; then
    (cd "fuzz/seeds/$name" && zip -q -r "$OUT/${name}_seed_corpus.zip" .)
  fi
done
