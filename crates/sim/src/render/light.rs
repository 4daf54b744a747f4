use std::sync::LazyLock;

use glam::Vec3;

use super::material::linear;
use super::{Looks, Part};

/// Toward the lamp.
pub(super) const TO_LIGHT: Vec3 = Vec3::new(-0.338, 0.455, 0.824);
/// Colour of the lamp: warm.
pub(super) const LAMP: Vec3 = Vec3::new(1.62, 1.48, 1.27);
/// Light from above that has no direction.
pub(super) const FROM_ABOVE: Vec3 = Vec3::new(0.66, 0.68, 0.72);
/// Light that the floor throws back.
pub(super) const FROM_BELOW: Vec3 = Vec3::new(0.40, 0.35, 0.30);

/// How far the lamp's edge lies from its middle, as a slope; only stills see it.
const LAMP_RADIUS: f32 = 0.055;
const CELLS: usize = 128;
/// How far above its surface a place looks for the lamp.
pub(super) const LIFT_M: f32 = 1.5e-3;
/// How far a shadow is thought to fall when the lamp is wide.
const REACH_M: f32 = 2.5;

/// Which parts can stand between a place and the lamp: a grid across the light.
pub(super) struct Shadows {
    along: Vec3,
    across: Vec3,
    origin: [f32; 2],
    per_metre: [f32; 2],
    first: Vec<u32>,
    casters: Vec<Caster>,
}

/// A part that casts a shadow.
#[derive(Clone, Copy)]
pub(super) struct Caster {
    pub(super) part: u16,
    /// Its highest point toward the light.
    pub(super) top: f32,
    /// What its shadow covers across the light: from and to, on both axes.
    covers: [f32; 4],
}

/// A place as the light sees it.
pub(super) struct Under<'a> {
    casters: &'a [Caster],
    height: f32,
    at: [f32; 2],
}

impl Under<'_> {
    /// The parts whose shadow may fall on the place, the highest first.
    #[inline]
    pub(super) fn casters(&self) -> impl Iterator<Item = &Caster> {
        let [u, v] = self.at;
        self.casters.iter().take_while(|caster| caster.top >= self.height).filter(move |caster| {
            let [from_u, from_v, to_u, to_v] = caster.covers;
            from_u <= u && u <= to_u && from_v <= v && v <= to_v
        })
    }
}

impl Shadows {
    pub(super) fn new(parts: &[Part], looks: Looks) -> Self {
        let along = TO_LIGHT.cross(Vec3::X).normalize();
        let across = TO_LIGHT.cross(along).normalize();
        let widen = LIFT_M + if looks == Looks::Still { REACH_M * LAMP_RADIUS } else { 0.0 };
        let shadow = |(index, part): (usize, &Part)| {
            let half = part.shape.half_extent();
            let reach = |axis: Vec3| (part.rotation.transpose() * axis).abs().dot(half);
            let (u, v) = (part.position.dot(along), part.position.dot(across));
            let (ru, rv) = (reach(along) + widen, reach(across) + widen);
            let top = part.position.dot(TO_LIGHT) + reach(TO_LIGHT);
            Caster { part: index as u16, top, covers: [u - ru, v - rv, u + ru, v + rv] }
        };
        let mut shadows: Vec<_> = parts.iter().enumerate().filter(|(_, part)| part.casts_shadow).map(shadow).collect();
        shadows.sort_by(|a, b| b.top.total_cmp(&a.top).then(a.part.cmp(&b.part)));
        let bounds = shadows.iter().fold([0.0, 0.0, 1.0, 1.0], |b: [f32; 4], Caster { covers: s, .. }| {
            [b[0].min(s[0]), b[1].min(s[1]), b[2].max(s[2]), b[3].max(s[3])]
        });
        let per_metre = [CELLS as f32 / (bounds[2] - bounds[0]), CELLS as f32 / (bounds[3] - bounds[1])];
        let mut cells = vec![Vec::new(); CELLS * CELLS];
        let cell =
            |value: f32, axis: usize| (((value - bounds[axis]) * per_metre[axis]).max(0.0) as usize).min(CELLS - 1);
        for caster in &shadows {
            let [u0, v0, u1, v1] = caster.covers;
            for row in cell(v0, 1)..=cell(v1, 1) {
                for column in cell(u0, 0)..=cell(u1, 0) {
                    cells[row * CELLS + column].push(*caster);
                }
            }
        }
        let mut first = vec![0];
        let mut casters = Vec::new();
        for list in cells {
            casters.extend(list);
            first.push(casters.len() as u32);
        }
        Self { along, across, origin: [bounds[0], bounds[1]], per_metre, first, casters }
    }

    /// What of the parts can be between the place and the lamp.
    #[inline]
    pub(super) fn over(&self, place: Vec3) -> Under<'_> {
        let at = [place.dot(self.along), place.dot(self.across)];
        let column = (at[0] - self.origin[0]) * self.per_metre[0];
        let row = (at[1] - self.origin[1]) * self.per_metre[1];
        let inside = 0.0..CELLS as f32;
        let casters = if inside.contains(&column) && inside.contains(&row) {
            let cell = row as usize * CELLS + column as usize;
            &self.casters[self.first[cell] as usize..self.first[cell + 1] as usize]
        } else {
            &[]
        };
        Under { casters, height: place.dot(TO_LIGHT), at }
    }

    /// Toward a place on the lamp; `angle` in turns, `radius` 0 to 1.
    pub(super) fn toward(&self, angle: f32, radius: f32) -> Vec3 {
        let (sin, cos) = (angle * std::f32::consts::TAU).sin_cos();
        TO_LIGHT + (self.along * cos + self.across * sin) * (radius.sqrt() * LAMP_RADIUS)
    }
}

const LUT_SIZE: usize = 4096;
/// Brighter than this is white.
const WHITE: f32 = 1.6;

static LUT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let curve = |index: usize| {
        let value = index as f32 / (LUT_SIZE - 1) as f32;
        let srgb = if value <= 0.003_130_8 { value * 12.92 } else { 1.055 * value.powf(1.0 / 2.4) - 0.055 };
        (srgb * 255.0 + 0.5) as u8
    };
    (0..LUT_SIZE).map(curve).collect()
});

static FROM_SRGB: LazyLock<[f32; 256]> = LazyLock::new(|| std::array::from_fn(|value| linear([value as u8; 3]).x));

/// What a screen shows of a light: linear, 0 to 1, with a soft shoulder.
#[inline]
pub(super) fn shown(light: Vec3) -> Vec3 {
    let x = light.max(Vec3::ZERO);
    // Reinhard's curve with a white point, bent so that middle tones keep their strength.
    ((x * (Vec3::ONE + x / (WHITE * WHITE))) / (Vec3::ONE + x * 0.62)).min(Vec3::ONE)
}

#[inline]
pub(super) fn shown_to_srgb(shown: Vec3) -> [u8; 3] {
    let scaled = shown * (LUT_SIZE - 1) as f32 + Vec3::splat(0.5);
    [LUT[scaled.x as usize], LUT[scaled.y as usize], LUT[scaled.z as usize]]
}

/// What [`shown_to_srgb`] made the three bytes of.
#[inline]
pub(super) fn shown_of_srgb(srgb: &[u8]) -> Vec3 {
    let channel = |at: usize| FROM_SRGB[usize::from(srgb[at])];
    Vec3::new(channel(0), channel(1), channel(2))
}

#[inline]
pub(super) fn to_srgb(light: Vec3) -> [u8; 3] {
    shown_to_srgb(shown(light))
}
