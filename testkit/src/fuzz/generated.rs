//! Inputs generated from a seed, so that the ordinary tests run a little of the fuzzer's range.

/// A source of bytes that a seed determines (xorshift64*): no distribution is asked of it, only that
/// each seed gives another input.
#[derive(Clone, Debug)]
pub struct Generator(u64);

impl Generator {
    /// The source of this seed.
    pub fn new(seed: u64) -> Self {
        // A state of 0 would stay 0.
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }
    /// The next 32 bits.
    pub fn next_u32(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 32) as u32
    }
    /// A number below `end`, which is at least 1.
    pub fn below(&mut self, end: usize) -> usize {
        self.next_u32() as usize % end.max(1)
    }
    /// One of `all`, which has at least one.
    pub fn one_of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        let at = self.below(all.len());
        &all[at]
    }
    /// The next `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next_u32() as u8).collect()
    }
}
