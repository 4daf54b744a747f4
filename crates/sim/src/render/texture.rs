use std::sync::LazyLock;

/// A tileable pattern of brightness with ever coarser copies of itself, so that it does not flicker in the distance.
pub struct Texture {
    levels: Vec<Level>,
    /// Metres after which it repeats.
    period_m: f32,
}

struct Level {
    size: usize,
    values: Vec<u8>,
}

impl Texture {
    fn bake(size: usize, period_m: f32, at: impl Fn(f32, f32) -> f32) -> Self {
        let value = |index: usize| {
            let (x, y) = ((index % size) as f32 + 0.5, (index / size) as f32 + 0.5);
            (at(x / size as f32, y / size as f32).clamp(0.0, 1.0) * 255.0) as u8
        };
        let mut levels = vec![Level { size, values: (0..size * size).map(value).collect() }];
        while let Some(last) = levels.last().filter(|level| level.size > 4) {
            let half = last.size / 2;
            let mean = |index: usize| {
                let (x, y) = (index % half * 2, index / half * 2);
                let row = |y: usize| {
                    u32::from(last.values[y * last.size + x]) + u32::from(last.values[y * last.size + x + 1])
                };
                ((row(y) + row(y + 1) + 2) / 4) as u8
            };
            let values = (0..half * half).map(mean).collect();
            levels.push(Level { size: half, values });
        }
        Self { levels, period_m }
    }

    /// Brightness, 0 to 1, at a place in metres, seen with pixels of `footprint_m`.
    #[inline]
    pub fn sample(&self, u_m: f32, v_m: f32, footprint_m: f32) -> f32 {
        let texels = footprint_m / self.period_m * self.levels[0].size as f32;
        let level = (texels.max(1.0).to_bits() >> 23).saturating_sub(127) as usize;
        let level = &self.levels[level.min(self.levels.len() - 1)];
        let size = level.size as f32;
        let mask = level.size - 1;
        let x = (u_m / self.period_m).rem_euclid(1.0) * size + size - 0.5;
        let y = (v_m / self.period_m).rem_euclid(1.0) * size + size - 0.5;
        let (x0, y0) = (x as usize, y as usize);
        let (fx, fy) = (x - x0 as f32, y - y0 as f32);
        let (left, right) = (x0 & mask, (x0 + 1) & mask);
        let (upper, lower) = ((y0 & mask) * level.size, ((y0 + 1) & mask) * level.size);
        let at = |index: usize| f32::from(level.values[index]);
        let above = at(upper + left) + (at(upper + right) - at(upper + left)) * fx;
        let below = at(lower + left) + (at(lower + right) - at(lower + left)) * fx;
        (above + (below - above) * fy) * (1.0 / 255.0)
    }
}

/// Wood grain along `u`.
pub static WOOD: LazyLock<Texture> = LazyLock::new(|| {
    Texture::bake(512, 1.0, |u, v| {
        let wave = fractal(u, v, 2, 6, 3, 11) * 0.5;
        let rings = ((v * 9.0 + wave) * std::f32::consts::TAU).sin() * 0.5 + 0.5;
        let fibre = fractal(u, v, 4, 128, 2, 5);
        0.25 + 0.35 * rings + 0.4 * fibre
    })
});

/// Floor boards along `u`, 12.5 cm wide, each with a tone of its own.
pub static PLANKS: LazyLock<Texture> = LazyLock::new(|| {
    Texture::bake(1024, 2.0, |u, v| {
        let row = (v * 16.0) as i32;
        let shift = hash(row, 0, 77);
        let along = (u * 2.0 + shift * 2.0).rem_euclid(2.0);
        let board = along as i32;
        let tone = hash(row, board, 3);
        let (edge_u, edge_v) = (along.fract() * 1.0, (v * 16.0).fract() * 0.125);
        let gap = edge_u.min(1.0 - edge_u).min(edge_v.min(0.125 - edge_v));
        let joint = smooth(0.0008, 0.0032, gap);
        let wave = fractal(u, v, 4, 16, 3, 100 + row) * 0.7;
        let rings = ((v * 48.0 + wave * 2.0 + tone * 7.0) * std::f32::consts::TAU * 0.5).sin() * 0.5 + 0.5;
        let fibre = fractal(u, v, 8, 256, 2, 9);
        joint * (0.18 + 0.4 * tone + 0.17 * rings + 0.25 * fibre)
    })
});

/// Square tiles of 30 cm.
pub static TILES: LazyLock<Texture> = LazyLock::new(|| {
    Texture::bake(512, 1.2, |u, v| {
        let (cell_u, cell_v) = (u * 4.0, v * 4.0);
        let (edge_u, edge_v) = (cell_u.fract(), cell_v.fract());
        let gap = edge_u.min(1.0 - edge_u).min(edge_v).min(1.0 - edge_v) * 0.3;
        let tone = hash(cell_u as i32, cell_v as i32, 21);
        let cloud = fractal(u, v, 6, 6, 4, 31);
        smooth(0.001, 0.004, gap) * (0.55 + 0.15 * tone + 0.3 * cloud)
    })
});

/// Woven cloth.
pub static FABRIC: LazyLock<Texture> = LazyLock::new(|| {
    Texture::bake(256, 0.24, |u, v| {
        let (warp, weft) = ((u * 48.0).fract() - 0.5, (v * 48.0).fract() - 0.5);
        let over = ((u * 48.0) as i32 + (v * 48.0) as i32) % 2 == 0;
        let thread = if over { 1.0 - 2.2 * warp * warp } else { 1.0 - 2.2 * weft * weft };
        0.25 + 0.45 * thread + 0.3 * fractal(u, v, 24, 24, 2, 41)
    })
});

/// Painted plaster, and anything else that is not quite even.
pub static PLASTER: LazyLock<Texture> = LazyLock::new(|| {
    Texture::bake(256, 1.6, |u, v| 0.3 + 0.4 * fractal(u, v, 4, 4, 4, 51) + 0.3 * fractal(u, v, 64, 64, 1, 52))
});

fn smooth(low: f32, high: f32, value: f32) -> f32 {
    let x = ((value - low) / (high - low)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

/// A number in 0 to 1 that depends on its arguments alone.
fn hash(x: i32, y: i32, seed: i32) -> f32 {
    let mut h = (x as u32).wrapping_mul(0x9E37_79B1)
        ^ (y as u32).wrapping_mul(0x85EB_CA77)
        ^ (seed as u32).wrapping_mul(0xC2B2_AE3D);
    h = (h ^ (h >> 15)).wrapping_mul(0x2C1B_3C6D);
    h = (h ^ (h >> 12)).wrapping_mul(0x297A_2D39);
    ((h ^ (h >> 15)) >> 8) as f32 / 16_777_216.0
}

/// Tileable value noise, 0 to 1, with `across` by `down` cells in its coarsest octave.
fn fractal(u: f32, v: f32, across: i32, down: i32, octaves: i32, seed: i32) -> f32 {
    let (mut sum, mut weight, mut amplitude) = (0.0, 0.0, 1.0);
    for octave in 0..octaves {
        let (columns, rows) = (across << octave, down << octave);
        let (x, y) = (u * columns as f32, v * rows as f32);
        let (x0, y0) = (x.floor() as i32, y.floor() as i32);
        let (fx, fy) = (smooth(0.0, 1.0, x - x0 as f32), smooth(0.0, 1.0, y - y0 as f32));
        let at = |dx: i32, dy: i32| hash((x0 + dx).rem_euclid(columns), (y0 + dy).rem_euclid(rows), seed + octave * 13);
        let above = at(0, 0) + (at(1, 0) - at(0, 0)) * fx;
        let below = at(0, 1) + (at(1, 1) - at(0, 1)) * fx;
        sum += amplitude * (above + (below - above) * fy);
        weight += amplitude;
        amplitude *= 0.5;
    }
    sum / weight
}
