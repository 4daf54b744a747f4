use crate::classes::{UNSEEN, support_below};
use crate::surface::step_gate;

/// The label of a pixel of no component.
pub(crate) const NONE: u32 = u32::MAX;

/// Connected groups of pixels above a support.
#[derive(Debug, Default)]
pub(crate) struct Components {
    /// The component of each pixel, or [`NONE`].
    pub(crate) labels: Vec<u32>,
    /// The pixels of all components, one component after the other.
    pixels: Vec<u32>,
    starts: Vec<usize>,
    parents: Vec<u32>,
}

impl Components {
    /// The number of components.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The pixels of a component, row by row.
    pub(crate) fn pixels(&self, component: usize) -> &[u32] {
        &self.pixels[self.starts[component]..self.starts[component + 1]]
    }

    /// Groups neighbouring pixels above the same support unless their depths step; small groups are dropped.
    pub(crate) fn find(&mut self, classes: &[u8], depth: &[f32], width: usize, pixels_min: usize) {
        self.labels.clear();
        self.labels.resize(classes.len(), NONE);
        self.parents.clear();
        for at in 0..classes.len() {
            if support_below(classes[at]).is_none() {
                continue;
            }
            let column = at % width;
            let left = (column > 0).then(|| self.joinable(at, at - 1, classes, depth)).flatten();
            let left = left.or_else(|| self.across(at, 1, column >= 2, classes, depth));
            let up = (at >= width).then(|| self.joinable(at, at - width, classes, depth)).flatten();
            let up = up.or_else(|| self.across(at, width, at >= 2 * width, classes, depth));
            self.labels[at] = match (left, up) {
                (Some(a), Some(b)) => self.union(a, b),
                (Some(label), None) | (None, Some(label)) => label,
                (None, None) => {
                    self.parents.push(self.parents.len() as u32);
                    self.parents.len() as u32 - 1
                }
            };
        }
        self.collect(pixels_min);
    }

    fn joinable(&self, at: usize, near: usize, classes: &[u8], depth: &[f32]) -> Option<u32> {
        let joins = classes[at] == classes[near] && (depth[at] - depth[near]).abs() < step_gate(depth[at]);
        joins.then(|| self.labels[near])
    }

    /// The label beyond a single pixel that was not measured.
    fn across(&self, at: usize, stride: usize, exists: bool, classes: &[u8], depth: &[f32]) -> Option<u32> {
        (exists && classes[at - stride] == UNSEEN).then(|| self.joinable(at, at - 2 * stride, classes, depth)).flatten()
    }

    fn root(&mut self, mut label: u32) -> u32 {
        while self.parents[label as usize] != label {
            let above = self.parents[self.parents[label as usize] as usize];
            self.parents[label as usize] = above;
            label = above;
        }
        label
    }

    fn union(&mut self, a: u32, b: u32) -> u32 {
        let (a, b) = (self.root(a), self.root(b));
        let (low, high) = (a.min(b), a.max(b));
        self.parents[high as usize] = low;
        low
    }

    fn collect(&mut self, pixels_min: usize) {
        let mut counts = vec![0_usize; self.parents.len()];
        for at in 0..self.labels.len() {
            if self.labels[at] != NONE {
                let root = self.root(self.labels[at]);
                self.labels[at] = root;
                counts[root as usize] += 1;
            }
        }
        let mut names = vec![NONE; counts.len()];
        self.starts.clear();
        self.starts.push(0);
        for (root, &count) in counts.iter().enumerate() {
            if count >= pixels_min {
                names[root] = self.len() as u32;
                self.starts.push(self.starts[self.len()] + count);
            }
        }
        let mut ends: Vec<usize> = self.starts.clone();
        self.pixels.clear();
        self.pixels.resize(self.starts[self.len()], 0);
        for at in 0..self.labels.len() {
            if self.labels[at] == NONE {
                continue;
            }
            let name = names[self.labels[at] as usize];
            self.labels[at] = name;
            if name != NONE {
                self.pixels[ends[name as usize]] = at as u32;
                ends[name as usize] += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classes::{above, on_plane};

    #[test]
    fn a_depth_step_parts_and_a_missing_pixel_does_not() {
        let a = above(0);
        let classes = [a, a, UNSEEN, a, a, a, on_plane(0), a];
        let depth = [1.0, 1.0, 0.0, 1.0, 1.1, 1.1, 1.1, 1.1];
        let mut components = Components::default();
        components.find(&classes, &depth, 8, 1);
        assert_eq!(components.len(), 3);
        assert_eq!(components.pixels(0), [0, 1, 3]);
        assert_eq!(components.pixels(1), [4, 5]);
        assert_eq!(components.pixels(2), [7]);
        components.find(&classes, &depth, 8, 2);
        assert_eq!(components.len(), 2);
        assert_eq!(components.labels[7], NONE);
    }

    #[test]
    fn arms_that_meet_later_are_one_component() {
        let a = above(1);
        #[rustfmt::skip]
        let classes = [a, OTHER, a,
                       a, OTHER, a,
                       a, a,     a];
        let mut components = Components::default();
        components.find(&classes, &[1.0; 9], 3, 1);
        assert_eq!(components.len(), 1);
        assert_eq!(components.pixels(0).len(), 7);
    }

    const OTHER: u8 = crate::classes::OTHER;
}
