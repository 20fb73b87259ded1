//! All randomness of a world, from one seed.

/// Splitmix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators): eight bytes
/// of state, every seed good.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    /// Equal seeds give equal rolls.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
    /// From 0 to `sides - 1`; 0 for none.
    pub fn roll(&mut self, sides: u64) -> u64 {
        self.next().checked_rem(sides).unwrap_or(0)
    }
    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.roll(high.saturating_sub(low) + 1)
    }
    /// True once in `times` on average.
    pub fn once_in(&mut self, times: u64) -> bool {
        self.roll(times) == 0
    }
    /// True in `per_mille` of a thousand rolls.
    pub fn per_mille(&mut self, per_mille: u32) -> bool {
        self.roll(1000) < u64::from(per_mille)
    }
    /// One of `choices`, which are not none.
    pub fn pick<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.roll(choices.len() as u64) as usize]
    }
}
