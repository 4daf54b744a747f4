use glam::Vec3;

use super::Part;

/// Which parts are near a place: a grid of cubes through the home.
pub(super) struct Near {
    origin: Vec3,
    size: [usize; 3],
    cells: Vec<Vec<u16>>,
}

const CELL_M: f32 = 0.3;
/// More cells than this are not kept; places outside have nothing near.
const MAX_SIDE: usize = 96;

impl Near {
    /// Sorts in the parts that come nearer than `reach` to a cell.
    pub(super) fn new(parts: &[Part], reach: f32) -> Self {
        let bounds = |part: &Part| {
            let half = part.shape.half_extent();
            let axes = part.rotation;
            let extent = axes.x_axis.abs() * half.x + axes.y_axis.abs() * half.y + axes.z_axis.abs() * half.z;
            (part.position - extent, part.position + extent)
        };
        let (mut low, mut high) = (Vec3::splat(-1.0), Vec3::splat(1.0));
        for part in parts {
            let (least, most) = bounds(part);
            low = low.min(least);
            high = high.max(most);
        }
        let cells_along = |from: f32, to: f32| (((to - from) / CELL_M) as usize + 1).min(MAX_SIDE);
        let size = [cells_along(low.x, high.x), cells_along(low.y, high.y), cells_along(low.z, high.z)];
        let mut near = Self { origin: low, size, cells: vec![Vec::new(); size[0] * size[1] * size[2]] };
        for (index, part) in parts.iter().enumerate() {
            let (least, most) = bounds(part);
            let first = near.clamped(least - Vec3::splat(reach));
            let last = near.clamped(most + Vec3::splat(reach));
            for z in first[2]..=last[2] {
                for y in first[1]..=last[1] {
                    for x in first[0]..=last[0] {
                        let cell = (z * size[1] + y) * size[0] + x;
                        near.cells[cell].push(index as u16);
                    }
                }
            }
        }
        near
    }

    fn clamped(&self, place: Vec3) -> [usize; 3] {
        let at = (place - self.origin) / CELL_M;
        let along = |value: f32, axis: usize| (value.max(0.0) as usize).min(self.size[axis] - 1);
        [along(at.x, 0), along(at.y, 1), along(at.z, 2)]
    }

    /// The parts that may be near the place.
    pub(super) fn at(&self, place: Vec3) -> &[u16] {
        let [x, y, z] = self.clamped(place);
        &self.cells[(z * self.size[1] + y) * self.size[0] + x]
    }
}
