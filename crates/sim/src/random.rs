//! Numbers that look random and are the same for the same seed.

/// `SplitMix64`: small, fast, good enough for noise and for making up scenes.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A stream of its own for each pair of numbers.
    pub fn of(seed: u64, index: u64) -> Self {
        let mut random = Self(seed ^ index.wrapping_mul(0xD134_2543_DE82_EF95));
        random.next_u64();
        random
    }

    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// From 0 up to, not including, 1.
    pub fn unit(&mut self) -> f32 {
        (self.next_u64() >> 40) as f32 / 16_777_216.0
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit()
    }

    /// From 0 up to, not including, `count`; 0 when `count` is 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next_u64() % count.max(1) as u64) as usize
    }

    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> &'a T {
        &of[self.below(of.len())]
    }

    /// About normal with deviation 1: the sum of twelve even numbers, which needs no library's logarithm.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| self.unit()).sum::<f32>() - 6.0
    }
}
