//! Some thousand generated inputs for the fuzz targets that compare two ways to one result, so that
//! ordinary test runs compare them too; `make fuzz` goes on for longer. `TRUNKLINE_SEED=n` replays one.

use trunkline_testkit::fuzz::{self, Generator};

/// Runs `body` on generated inputs of up to `bytes_max`.
fn generate(body: fn(&[u8]), seeds: u64, bytes_max: usize) {
    let one = std::env::var("TRUNKLINE_SEED").ok();
    let one = one.and_then(|seed| seed.parse::<u64>().ok());
    let seeds = one.map_or(0..seeds, |seed| seed..seed + 1);
    for seed in seeds {
        let mut generator = Generator::new(seed);
        let length = generator.below(bytes_max);
        let input = match seed % 4 {
            0 => generator.bytes(length),
            // Of few different bytes: what happens by itself once in many inputs then happens again
            // and again in one.
            _ => {
                let alphabet = 2 + generator.below(7);
                let alphabet = generator.bytes(alphabet);
                (0..length).map(|_| *generator.one_of(&alphabet)).collect()
            }
        };
        // Shown when the body panics.
        eprintln!("TRUNKLINE_SEED={seed}");
        body(&input);
    }
}

#[test]
fn heads_that_are_remembered_are_those_that_a_decoder_without_a_memory_reads() {
    generate(fuzz::h2_heads, 30_000, 200);
}
