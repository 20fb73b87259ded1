//! Two hundred worlds: whatever goes wrong, every request ends once, none is processed twice, no
//! bound is crossed and no credit is lost (the asserts stand in `trunkline_testkit::sim`).

use trunkline_testkit::sim;

/// The seeds of every run of the tests.
const SEEDS: u64 = 200;

#[test]
fn every_world_keeps_its_properties() {
    for seed in sim::seeds(0, SEEDS) {
        sim::run(seed);
    }
}

#[test]
fn a_seed_replays_exactly() {
    for seed in [0, 1, 2, 30, 31] {
        assert_eq!(sim::run(seed), sim::run(seed), "seed {seed}");
    }
}
