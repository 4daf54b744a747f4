use glam::Vec3;

use super::texture::{FABRIC, PLANKS, PLASTER, TILES, Texture, WOOD};

/// How a surface looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Material {
    /// Linear colour.
    pub base: Vec3,
    pub pattern: Pattern,
    /// Strength of the highlight.
    pub gloss: f32,
    /// Whether it shines by itself.
    pub glows: bool,
}

/// What varies over a surface. Lengths in metres, in the solid's own frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Pattern {
    Plain,
    /// Grain along the longest axis, given as 0, 1 or 2.
    Wood {
        along: u8,
    },
    Planks,
    Tiles,
    Fabric,
    Plaster,
    /// Another colour between two heights.
    Band {
        from: f32,
        to: f32,
        colour: Vec3,
    },
    /// A patch of another colour on the faces across `x`.
    Patch {
        half_width: f32,
        from: f32,
        to: f32,
        colour: Vec3,
    },
    /// A painted landscape on the faces across `x`, with these half sides.
    Landscape {
        half_width: f32,
        half_height: f32,
    },
    /// The sky behind a window across `x`, with this half height.
    Sky {
        half_height: f32,
    },
    /// Vertical stripes of another colour along `y`.
    Stripes {
        period: f32,
        colour: Vec3,
    },
}

impl Material {
    /// Matt paint of an sRGB colour.
    pub fn matt(srgb: [u8; 3]) -> Self {
        Self { base: linear(srgb), pattern: Pattern::Plain, gloss: 0.05, glows: false }
    }

    /// Smooth plastic or lacquer of an sRGB colour.
    pub fn glossy(srgb: [u8; 3]) -> Self {
        Self { gloss: 0.45, ..Self::matt(srgb) }
    }

    #[must_use]
    pub fn with(self, pattern: Pattern) -> Self {
        Self { pattern, ..self }
    }

    /// Linear colour at a point of the solid's frame with that normal; `footprint` is the width of a pixel there.
    #[inline]
    pub fn colour(&self, point: Vec3, normal: Vec3, footprint: f32) -> Vec3 {
        match self.pattern {
            Pattern::Plain => self.base,
            Pattern::Wood { along } => {
                let (u, v) = grain(point, normal, along);
                toned(self.base, WOOD.sample(u, v, footprint), 0.62, 1.25)
            }
            Pattern::Planks => toned(self.base, over_face(&PLANKS, point, normal, footprint), 0.35, 1.45),
            Pattern::Tiles => toned(self.base, over_face(&TILES, point, normal, footprint), 0.5, 1.15),
            Pattern::Fabric => toned(self.base, over_face(&FABRIC, point, normal, footprint), 0.6, 1.3),
            Pattern::Plaster => toned(self.base, over_face(&PLASTER, point, normal, footprint), 0.95, 1.05),
            Pattern::Band { from, to, colour } => {
                if (from..to).contains(&point.z) && normal.z.abs() < 0.9 {
                    colour
                } else {
                    self.base
                }
            }
            Pattern::Patch { half_width, from, to, colour } => {
                let inside = normal.x.abs() > 0.7 && point.y.abs() < half_width && (from..to).contains(&point.z);
                if inside { colour } else { self.base }
            }
            Pattern::Landscape { half_width, half_height } => landscape(point.y / half_width, point.z / half_height),
            Pattern::Sky { half_height } => sky(point.y, point.z / half_height),
            Pattern::Stripes { period, colour } => {
                if (point.y / period).rem_euclid(1.0) < 0.5 {
                    self.base
                } else {
                    colour
                }
            }
        }
    }
}

/// The linear value of an sRGB colour.
pub fn linear(srgb: [u8; 3]) -> Vec3 {
    let channel = |value: u8| {
        let value = f32::from(value) / 255.0;
        if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
    };
    Vec3::new(channel(srgb[0]), channel(srgb[1]), channel(srgb[2]))
}

/// Darker tones lose more blue than red, as wood and cloth do.
fn toned(base: Vec3, tone: f32, low: f32, high: f32) -> Vec3 {
    let factor = low + (high - low) * tone;
    base * Vec3::new(factor, factor * (0.94 + 0.06 * tone), factor * (0.86 + 0.14 * tone))
}

fn grain(point: Vec3, normal: Vec3, along: u8) -> (f32, f32) {
    let steep = normal.abs();
    let across = match along {
        0 if steep.z > steep.y => point.y,
        1 if steep.z > steep.x => point.x,
        0 | 1 => point.z,
        _ if steep.x > steep.y => point.y,
        _ => point.x,
    };
    let (u, face) = match along {
        0 => (point.x, if steep.z > steep.y { 0.0 } else { 0.37 }),
        1 => (point.y, if steep.z > steep.x { 0.0 } else { 0.37 }),
        _ => (point.z, if steep.x > steep.y { 0.0 } else { 0.37 }),
    };
    (u, across + face)
}

fn over_face(texture: &Texture, point: Vec3, normal: Vec3, footprint: f32) -> f32 {
    let steep = normal.abs();
    let (u, v) = if steep.z >= steep.x && steep.z >= steep.y {
        (point.x, point.y)
    } else if steep.x >= steep.y {
        (point.y, point.z)
    } else {
        (point.x, point.z)
    };
    texture.sample(u, v, footprint)
}

/// A small painting: evening sky, sun, hills, a lake. `x` and `y` run from -1 to 1.
fn landscape(x: f32, y: f32) -> Vec3 {
    let sun = (x - 0.35).hypot((y - 0.35) * 0.75);
    let far = 0.12 * (x * 4.0 + 1.0).sin() + 0.08 * (x * 9.0).sin() + 0.02;
    let near = 0.14 * (x * 2.6 - 0.6).sin() - 0.28;
    if y < near {
        let row = ((near - y) * 14.0 + x * 2.0).sin() * 0.04;
        return Vec3::new(0.10 + row, 0.20 + row, 0.07);
    }
    if y < -0.12 {
        let glitter = if (x - 0.35).abs() < 0.05 + (y + 0.12).abs() * 0.3 { 0.16 } else { 0.0 };
        return Vec3::new(0.18 + glitter, 0.32 + glitter * 0.8, 0.42 + glitter * 0.4);
    }
    if y < far {
        return Vec3::new(0.16, 0.27, 0.30);
    }
    if sun < 0.15 {
        return Vec3::new(1.0, 0.75, 0.35);
    }
    let glow = (1.0 - sun).max(0.0);
    Vec3::new(0.42 + 0.5 * glow, 0.52 + 0.16 * glow, 0.66 - 0.1 * glow)
}

fn sky(y: f32, z: f32) -> Vec3 {
    let horizon = (0.5 - 0.5 * z).clamp(0.0, 1.0);
    let above = Vec3::new(0.36, 0.62, 0.98).lerp(Vec3::new(0.86, 0.93, 1.0), horizon);
    let puff = |centre_y: f32, centre_z: f32, size: f32| {
        (1.0 - (((y - centre_y) / (2.0 * size)).powi(2) + ((z - centre_z) / size).powi(2))).clamp(0.0, 1.0)
    };
    let cloud = (puff(-0.25, 0.35, 0.16) + puff(-0.02, 0.28, 0.2) + puff(0.45, 0.6, 0.14)).min(1.0);
    let hills = -0.55 + 0.1 * (y * 5.0).sin() + 0.05 * (y * 13.0 + 1.0).sin();
    if z < hills { Vec3::new(0.25, 0.42, 0.22) } else { above.lerp(Vec3::splat(1.0), cloud * 0.8) * 1.05 }
}
