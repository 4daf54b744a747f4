//! The flaws of a real RGB-D camera: noise and drop-outs, the same for the same seed and frame number.

use std::sync::Arc;

use cerebellum_core::{DepthImage, RgbImage};

use crate::random::Random;
use crate::render::Rendering;

/// Adds noise to renderings.
pub struct Sensor {
    seed: u64,
    normal: Vec<f32>,
    chance: Vec<u8>,
}

const TABLE: usize = 1 << 15;
/// Deviation of the depth at one metre; grows with the square of the distance.
const DEPTH_SIGMA_M: f32 = 0.0015;
/// Deviation of a colour channel, in steps of 256.
const COLOUR_SIGMA: f32 = 1.3;
/// What lies outside is not measured.
const RANGE_M: std::ops::RangeInclusive<f32> = 0.15..=8.0;
/// Surfaces seen more edge on than this are measured only sometimes; 255 is straight on.
const GRAZING: u8 = 44;

impl Sensor {
    pub fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let normal = (0..TABLE).map(|_| random.normal()).collect();
        let chance = (0..TABLE).map(|_| random.next_u64() as u8).collect();
        Self { seed, normal, chance }
    }

    /// What the camera makes of a rendering as its frame of that number.
    pub fn expose(&self, rendering: &Rendering, index: u64) -> (Arc<RgbImage>, Arc<DepthImage>) {
        let (width, height) = (rendering.width, rendering.height);
        let mut random = Random::of(self.seed, index);
        let mut data = rendering.rgb.clone();
        let mut metres = rendering.depth.clone();
        let row = width.max(1) as usize;
        for (y, (pixels, depths)) in data.chunks_mut(row * 3).zip(metres.chunks_mut(row)).enumerate() {
            let offset = random.next_u64() as usize;
            for (x, value) in pixels.iter_mut().enumerate() {
                let noise = self.normal[(offset + x) % TABLE] * COLOUR_SIGMA;
                *value = (f32::from(*value) + noise + 0.5).clamp(0.0, 255.0) as u8;
            }
            let offset = random.next_u64() as usize;
            let facing = &rendering.facing[y * row..];
            for (x, depth) in depths.iter_mut().enumerate() {
                let at = (offset + x) % TABLE;
                let chance = u32::from(self.chance[at]) * u32::from(GRAZING) / 255;
                let is_lost = !RANGE_M.contains(depth) || u32::from(facing[x]) < chance;
                *depth = if is_lost { 0.0 } else { *depth + *depth * *depth * DEPTH_SIGMA_M * self.normal[at] };
            }
        }
        (Arc::new(RgbImage { width, height, data }), Arc::new(DepthImage { width, height, metres }))
    }

    /// What the camera sees with its lens covered: nothing, and the noise of its chip.
    pub fn covered(&self, width: u32, height: u32, index: u64) -> (Arc<RgbImage>, Arc<DepthImage>) {
        let pixels = width as usize * height as usize;
        let dark = Rendering {
            width,
            height,
            rgb: vec![2; pixels * 3],
            depth: vec![0.0; pixels],
            ids: Vec::new(),
            facing: vec![0; pixels],
        };
        self.expose(&dark, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wall(depth: f32, facing: u8) -> Rendering {
        let pixels = 64 * 48;
        Rendering {
            width: 64,
            height: 48,
            rgb: vec![120; pixels * 3],
            depth: vec![depth; pixels],
            ids: vec![0; pixels],
            facing: vec![facing; pixels],
        }
    }

    #[test]
    fn depth_noise_grows_with_the_square_of_the_distance() {
        let sensor = Sensor::new(3);
        for depth in [0.5_f32, 1.0, 3.0] {
            let (_, seen) = sensor.expose(&wall(depth, 255), 1);
            let count = seen.metres.len() as f32;
            let mean = seen.metres.iter().sum::<f32>() / count;
            let sigma = (seen.metres.iter().map(|d| (d - mean).powi(2)).sum::<f32>() / count).sqrt();
            let expected = DEPTH_SIGMA_M * depth * depth;
            assert!((sigma / expected - 1.0).abs() < 0.1, "{sigma} at {depth} m");
            assert!((mean - depth).abs() < expected * 0.2, "{mean} at {depth} m");
        }
    }

    #[test]
    fn surfaces_seen_edge_on_drop_out() {
        let sensor = Sensor::new(3);
        let lost = |facing| sensor.expose(&wall(1.0, facing), 1).1.metres.iter().filter(|d| **d == 0.0).count();
        assert_eq!(lost(200), 0);
        assert!(lost(10) > 1500, "{}", lost(10));
        assert!(lost(10) < 3000);
    }

    #[test]
    fn noise_depends_on_seed_and_frame_alone() {
        let rendering = wall(1.0, 255);
        let first = Sensor::new(3).expose(&rendering, 1);
        assert_eq!(first, Sensor::new(3).expose(&rendering, 1));
        assert_ne!(first, Sensor::new(3).expose(&rendering, 2));
        assert_ne!(first, Sensor::new(4).expose(&rendering, 1));
    }
}
