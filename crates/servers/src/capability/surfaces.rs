use cerebellum_core::{FloorMap, Region};
use glam::DVec3;

/// How far a pose may lie above or below the surface that it is said to lie on.
const SURFACE_WITHIN_M: f64 = 0.05;
/// How far from the edge of a surface a spot is chosen, and how far apart spots are tried.
const EDGE_M: f64 = 0.12;
const SPOTS_EVERY_M: f64 = 0.1;

/// The surfaces that things can stand on.
pub(super) fn surfaces(map: &FloorMap) -> impl Iterator<Item = &Region> {
    map.furniture.iter().filter(|region| region.surface_height.is_some())
}

/// Whether a point lies on a surface.
pub(super) fn lies_on(region: &Region, point: DVec3) -> bool {
    let is_level = region.surface_height.is_some_and(|height| (point.z - height).abs() <= SURFACE_WITHIN_M);
    is_level && contains(&region.outline, [point.x, point.y])
}

/// Spots on the surface away from its edges, those nearest to `from` first.
pub(super) fn spots(region: &Region, from: DVec3) -> Vec<DVec3> {
    let Some(height) = region.surface_height else { return Vec::new() };
    let bounds = |axis: usize| {
        let values = region.outline.iter().map(|corner| corner[axis]);
        (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max))
    };
    let (xs, ys) = (steps(bounds(0)), steps(bounds(1)));
    let is_inside = |x: f64, y: f64| {
        let round = [[EDGE_M, 0.0], [-EDGE_M, 0.0], [0.0, EDGE_M], [0.0, -EDGE_M]];
        round.iter().all(|[dx, dy]| contains(&region.outline, [x + dx, y + dy]))
    };
    let mut spots: Vec<DVec3> = xs
        .iter()
        .flat_map(|&x| ys.iter().map(move |&y| (x, y)))
        .filter(|&(x, y)| is_inside(x, y))
        .map(|(x, y)| DVec3::new(x, y, height))
        .collect();
    let far = |spot: &DVec3| (spot.x - from.x).hypot(spot.y - from.y);
    spots.sort_by(|a, b| far(a).total_cmp(&far(b)));
    spots
}

fn steps((least, most): (f64, f64)) -> Vec<f64> {
    let count = ((most - least) / SPOTS_EVERY_M).clamp(0.0, 100.0) as usize;
    (0..=count).map(|index| least + index as f64 * SPOTS_EVERY_M).collect()
}

/// Whether a point lies within an outline: it is crossed an odd number of times on the way out.
fn contains(outline: &[[f64; 2]], [x, y]: [f64; 2]) -> bool {
    let next = outline.iter().cycle().skip(1);
    let crossings = outline
        .iter()
        .zip(next)
        .filter(|([x1, y1], [x2, y2])| (y1 > &y) != (y2 > &y) && x < (x2 - x1) * (y - y1) / (y2 - y1) + x1);
    crossings.count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Region {
        let outline = vec![[1.0, 0.0], [2.0, 0.0], [2.0, 0.6], [1.0, 0.6]];
        Region { name: "table".to_owned(), outline, surface_height: Some(0.72) }
    }

    #[test]
    fn a_pose_lies_on_a_surface_only_within_its_outline_and_at_its_height() {
        for (point, expected) in [
            (DVec3::new(1.5, 0.3, 0.72), true),
            (DVec3::new(1.5, 0.3, 0.75), true),
            (DVec3::new(1.5, 0.3, 0.6), false),
            (DVec3::new(0.5, 0.3, 0.72), false),
            (DVec3::new(1.5, 0.7, 0.72), false),
        ] {
            assert_eq!(lies_on(&table(), point), expected, "{point}");
        }
    }

    #[test]
    fn spots_are_away_from_the_edges_and_the_nearest_comes_first() {
        let spots = spots(&table(), DVec3::ZERO);
        assert!(!spots.is_empty());
        assert!(spots.iter().all(|spot| (1.1..1.9).contains(&spot.x) && (0.1..0.5).contains(&spot.y)), "{spots:?}");
        assert!(spots.is_sorted_by(|a, b| a.length() <= b.length()));
    }
}
