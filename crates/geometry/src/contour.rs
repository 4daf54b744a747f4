use cerebellum_core::Mask;

/// The eight neighbours of a pixel, clockwise from the left as a picture shows them.
const RING: [(i64, i64); 8] = [(-1, 0), (-1, -1), (0, -1), (1, -1), (1, 0), (1, 1), (0, 1), (-1, 1)];

/// The outline of the largest part of a mask, as corners in pixels of the source picture, clockwise as seen: the border
/// followed from pixel to pixel (Moore), then thinned so that no pixel of it lies farther than `tolerance` pixels from the
/// polygon (Douglas and Peucker). Holes are ignored. Empty for an empty mask; fewer than three corners for one that is a
/// point or a line.
pub fn outline(mask: &Mask, tolerance: f32) -> Vec<[u32; 2]> {
    let grid = Grid::of(mask);
    let mut longest: Vec<(i64, i64)> = Vec::new();
    for start in grid.starts() {
        let border = grid.follow(start);
        if border.len() > longest.len() {
            longest = border;
        }
    }
    let corners = thinned(&longest, tolerance);
    corners.into_iter().map(|(x, y)| [mask.bounds.x + x as u32, mask.bounds.y + y as u32]).collect()
}

/// The pixel of the mask that is nearest to the middle of all of its pixels; `None` for an empty mask.
pub fn centroid(mask: &Mask) -> Option<[u32; 2]> {
    let width = mask.bounds.width.max(1) as usize;
    let inside =
        || (0..mask.data.len()).filter(|&at| mask.data[at] != 0).map(|at| ((at % width) as f64, (at / width) as f64));
    let count = inside().count() as f64;
    let (x, y) = inside().fold((0.0, 0.0), |(x, y), (column, row)| (x + column / count, y + row / count));
    let nearest = inside().min_by(|a, b| (a.0 - x).hypot(a.1 - y).total_cmp(&(b.0 - x).hypot(b.1 - y)))?;
    Some([mask.bounds.x + nearest.0 as u32, mask.bounds.y + nearest.1 as u32])
}

struct Grid<'a> {
    width: i64,
    height: i64,
    data: &'a [u8],
}

impl<'a> Grid<'a> {
    fn of(mask: &'a Mask) -> Self {
        Self { width: i64::from(mask.bounds.width), height: i64::from(mask.bounds.height), data: &mask.data }
    }

    fn has(&self, (x, y): (i64, i64)) -> bool {
        x >= 0 && y >= 0 && x < self.width && y < self.height && self.data[(y * self.width + x) as usize] != 0
    }

    /// The first pixel of each part, in reading order.
    fn starts(&self) -> Vec<(i64, i64)> {
        let mut seen = vec![false; self.data.len()];
        let mut starts = Vec::new();
        for at in 0..self.data.len().cast_signed() as i64 {
            let pixel = (at % self.width, at / self.width);
            if seen[at as usize] || !self.has(pixel) {
                continue;
            }
            starts.push(pixel);
            seen[at as usize] = true;
            let mut open = vec![pixel];
            while let Some((x, y)) = open.pop() {
                for (dx, dy) in RING {
                    let near = (x + dx, y + dy);
                    let index = (near.1 * self.width + near.0) as usize;
                    if self.has(near) && !seen[index] {
                        seen[index] = true;
                        open.push(near);
                    }
                }
            }
        }
        starts
    }

    /// The border from its first pixel in reading order, which has nothing to its left.
    fn follow(&self, start: (i64, i64)) -> Vec<(i64, i64)> {
        let mut border = vec![start];
        let (mut here, mut from) = (start, 0);
        // No pixel of a border is passed more often than it has neighbours.
        for _ in 0..self.data.len() * RING.len() {
            let next = (1..=RING.len()).map(|turn| (from + turn) % RING.len()).find(|&side| {
                let (dx, dy) = RING[side];
                self.has((here.0 + dx, here.1 + dy))
            });
            let Some(side) = next else { break };
            here = (here.0 + RING[side].0, here.1 + RING[side].1);
            // Looking goes on from the neighbour that was looked at before this one.
            from = (side + 5) % RING.len();
            if here == start {
                break;
            }
            border.push(here);
        }
        border
    }
}

/// Thins a closed border: the pixel farthest from the first one divides it into two open lines.
fn thinned(border: &[(i64, i64)], tolerance: f32) -> Vec<(i64, i64)> {
    let Some(&first) = border.first() else { return Vec::new() };
    let square = |(x, y): (i64, i64)| (x - first.0).pow(2) + (y - first.1).pow(2);
    let Some(far) = (1..border.len()).max_by_key(|&at| square(border[at])) else { return vec![first] };
    let mut keep = vec![false; border.len() + 1];
    keep[0] = true;
    keep[far] = true;
    let closed: Vec<(i64, i64)> = border.iter().copied().chain([first]).collect();
    let mut open = vec![(0, far), (far, border.len())];
    while let Some((a, b)) = open.pop() {
        let farthest = (a + 1..b)
            .map(|at| (at, distance(closed[at], closed[a], closed[b])))
            .max_by(|one, other| one.1.total_cmp(&other.1));
        if let Some((at, off)) = farthest
            && off > tolerance
        {
            keep[at] = true;
            open.extend([(a, at), (at, b)]);
        }
    }
    (0..border.len()).filter(|&at| keep[at]).map(|at| border[at]).collect()
}

fn distance(point: (i64, i64), a: (i64, i64), b: (i64, i64)) -> f32 {
    let (along, to) = ((b.0 - a.0, b.1 - a.1), (point.0 - a.0, point.1 - a.1));
    let length = (along.0 as f32).hypot(along.1 as f32);
    if length == 0.0 {
        return (to.0 as f32).hypot(to.1 as f32);
    }
    (along.0 * to.1 - along.1 * to.0).abs() as f32 / length
}

#[cfg(test)]
mod tests {
    use cerebellum_core::PixelBox;

    use super::*;

    fn mask(rows: &[&str]) -> Mask {
        let bounds = PixelBox { x: 10, y: 20, width: rows[0].len() as u32, height: rows.len() as u32 };
        let data = rows.iter().flat_map(|row| row.bytes().map(|byte| if byte == b'#' { 255 } else { 0 })).collect();
        Mask::new(bounds, data).unwrap()
    }

    #[test]
    fn a_rectangle_has_its_four_corners() {
        let mask = mask(&["......", ".####.", ".####.", ".####."]);
        assert_eq!(outline(&mask, 0.5), [[11, 21], [14, 21], [14, 23], [11, 23]]);
        assert!(mask.contains(centroid(&mask).unwrap()[0], centroid(&mask).unwrap()[1]));
    }

    #[test]
    fn the_largest_part_is_followed_and_holes_are_ignored() {
        let mask = mask(&["#.......", "...#####", "...#...#", "...#...#", "...#####"]);
        assert_eq!(outline(&mask, 0.5), [[13, 21], [17, 21], [17, 24], [13, 24]]);
    }

    #[test]
    fn the_middle_of_a_ring_is_a_pixel_of_it() {
        let mask = mask(&["#####", "#...#", "#####"]);
        let [u, v] = centroid(&mask).unwrap();
        assert!(mask.contains(u, v));
    }

    #[test]
    fn nothing_a_point_and_a_line_are_no_polygon() {
        assert_eq!(outline(&mask(&["..", ".."]), 1.0), Vec::<[u32; 2]>::new());
        assert_eq!(centroid(&mask(&["..", ".."])), None);
        assert_eq!(outline(&mask(&["..", ".#"]), 1.0), [[11, 21]]);
        assert_eq!(outline(&mask(&["####"]), 1.0), [[10, 20], [13, 20]]);
    }

    #[test]
    fn a_disc_keeps_within_the_tolerance() {
        let radius = 30_i64;
        let side = 2 * radius + 1;
        let inside = |at: i64| (at % side - radius).pow(2) + (at / side - radius).pow(2) <= radius * radius;
        let data: Vec<u8> = (0..side * side).map(|at| if inside(at) { 255 } else { 0 }).collect();
        let bounds = PixelBox { x: 0, y: 0, width: side as u32, height: side as u32 };
        let corners = outline(&Mask::new(bounds, data).unwrap(), 1.5);
        assert!((8..40).contains(&corners.len()), "{} corners", corners.len());
        for [x, y] in corners {
            let off = (f64::from(x) - 30.0).hypot(f64::from(y) - 30.0);
            assert!((28.0..30.6).contains(&off), "{off}");
        }
    }
}
