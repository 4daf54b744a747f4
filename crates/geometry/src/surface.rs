use cerebellum_core::DepthImage;
use glam::Vec3;

use crate::camera::{Camera, depth_sigma};

/// Columns of the coarse grid that normals and planes are found on.
const COARSE_COLUMNS: usize = 320;
/// Half the length over which a normal is measured, in metres.
const NORMAL_REACH_M: f32 = 0.012;

/// The measured surface: depth with its noise averaged away, and points and normals on a coarse grid.
#[derive(Debug, Default)]
pub(crate) struct Surface {
    /// Depth of each pixel, in metres; 0 where nothing was measured.
    pub(crate) depth: Vec<f32>,
    /// Pixels between two cells of the coarse grid.
    pub(crate) step: usize,
    /// Cells in a row of the coarse grid.
    pub(crate) columns: usize,
    /// Rows of the coarse grid.
    pub(crate) rows: usize,
    /// Depth of each cell; 0 where nothing was measured.
    pub(crate) cell_depth: Vec<f32>,
    /// Point of each cell in the level frame.
    pub(crate) points: Vec<Vec3>,
    /// Unit normal of each cell, towards the camera; zero where it could not be told.
    pub(crate) normals: Vec<Vec3>,
}

/// The largest step between neighbouring depths of one surface, in metres.
pub(crate) fn step_gate(depth: f32) -> f32 {
    0.018 + 0.004 * depth * depth
}

impl Surface {
    /// Averages the noise away within surfaces, never across a depth step.
    pub(crate) fn smooth(&mut self, image: &DepthImage) {
        let (width, height) = (image.width as usize, image.height as usize);
        self.depth.clear();
        self.depth.extend_from_slice(&image.metres);
        if width < 3 || height < 3 {
            return;
        }
        for row in 1..height - 1 {
            let [above, here, below] = [row - 1, row, row + 1].map(|r| &image.metres[r * width..(r + 1) * width]);
            let out = &mut self.depth[row * width + 1..(row + 1) * width - 1];
            let windows = above.windows(3).zip(here.windows(3)).zip(below.windows(3));
            for (value, ((a, b), c)) in out.iter_mut().zip(windows) {
                let middle = b[1];
                if middle <= 0.0 {
                    continue;
                }
                let gate = 0.006 + 4.0 * depth_sigma(middle);
                let (mut sum, mut count) = (0.0, 0.0);
                for &near in a.iter().chain(b).chain(c) {
                    let counts = f32::from(u8::from((near - middle).abs() < gate));
                    sum += near * counts;
                    count += counts;
                }
                *value = sum / count;
            }
        }
    }

    /// Points and normals on the coarse grid.
    pub(crate) fn measure(&mut self, camera: &Camera) {
        self.step = ((camera.width + COARSE_COLUMNS / 2) / COARSE_COLUMNS).max(1);
        self.columns = camera.width / self.step;
        self.rows = camera.height / self.step;
        let cells = self.columns * self.rows;
        self.cell_depth.clear();
        self.points.clear();
        self.points.reserve(cells);
        for row in 0..self.rows {
            let pixel_row = row * self.step + self.step / 2;
            let (start, step) = camera.row_rays(pixel_row);
            for column in 0..self.columns {
                let pixel = column * self.step + self.step / 2;
                let depth = self.depth[pixel_row * camera.width + pixel];
                self.cell_depth.push(depth);
                self.points.push((start + step * pixel as f32) * depth + camera.position());
            }
        }
        self.normals.clear();
        self.normals.resize(cells, Vec3::ZERO);
        let focal = camera.focal() / self.step as f32;
        for row in 2..self.rows.saturating_sub(2) {
            for column in 2..self.columns.saturating_sub(2) {
                self.normals[row * self.columns + column] = self.normal(column, row, focal, camera.position());
            }
        }
    }

    /// The cell that a pixel falls into.
    pub(crate) fn cell_of(&self, pixel: usize, width: usize) -> usize {
        let column = (pixel % width / self.step).min(self.columns - 1);
        let row = (pixel / width / self.step).min(self.rows - 1);
        row * self.columns + column
    }

    /// The pixel in the middle of a cell.
    pub(crate) fn pixel_of(&self, cell: usize, width: usize) -> usize {
        let half = self.step / 2;
        (cell / self.columns * self.step + half) * width + cell % self.columns * self.step + half
    }

    fn normal(&self, column: usize, row: usize, focal: f32, eye: Vec3) -> Vec3 {
        let here = row * self.columns + column;
        let depth = self.cell_depth[here];
        if depth <= 0.0 {
            return Vec3::ZERO;
        }
        let reach = ((NORMAL_REACH_M * focal / depth) as usize).clamp(2, 4);
        let across = self.tangent(here, reach.min(column).min(self.columns - 1 - column), 1);
        let down = self.tangent(here, reach.min(row).min(self.rows - 1 - row), self.columns);
        let (Some(across), Some(down)) = (across, down) else { return Vec3::ZERO };
        let normal = across.cross(down).normalize_or_zero();
        if normal.dot(eye - self.points[here]) < 0.0 { -normal } else { normal }
    }

    /// The difference of points on both sides, or on one side where the other lies beyond a depth step.
    fn tangent(&self, here: usize, reach: usize, stride: usize) -> Option<Vec3> {
        let (before, after) = (here - reach * stride, here + reach * stride);
        let depth = self.cell_depth[here];
        let (d0, d1) = (self.cell_depth[before], self.cell_depth[after]);
        let gate = step_gate(depth) * (1.0 + 0.5 * reach as f32);
        let (near0, near1) = (d0 > 0.0 && (d0 - depth).abs() < gate, d1 > 0.0 && (d1 - depth).abs() < gate);
        match (near0, near1) {
            (true, true) => Some(self.points[after] - self.points[before]),
            (true, false) => Some(self.points[here] - self.points[before]),
            (false, true) => Some(self.points[after] - self.points[here]),
            (false, false) => None,
        }
    }
}
