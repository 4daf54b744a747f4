use cerebellum_core::{DepthImage, Frame, Intrinsics, Mask, PixelBox, Pose, RgbImage};
use glam::{Vec2, Vec3};

use crate::camera::{Camera, depth_sigma};
use crate::classes::{self, UNSEEN, classify, on_plane, support_below};
use crate::colour::{ColourCount, ColourName};
use crate::components::{Components, NONE};
use crate::free::{FreeRegion, REGIONS_MAX, free_place, free_regions};
use crate::level::level_from_camera;
use crate::mask::{Around, bounds_of, mask_of, median_depth};
use crate::person::{Person, find_people};
use crate::plane::{Support, SupportKind, find_supports};
use crate::shape::{Seen, Shape, ShapeFit, fit};
use crate::split::split;
use crate::surface::{Surface, step_gate};

/// The smallest thing that is reported, in pixels of a 640x480 picture.
const PIXELS_MIN: usize = 150;
/// Longer things are furniture, in metres.
const LENGTH_MAX_M: f32 = 0.48;
/// What is higher may go on beyond the height that is looked at, as a leg or a lamp does, in metres.
const HEIGHT_MAX_M: f32 = 0.43;
/// What is nearer than this to the camera is the robot itself or right before its lens, in metres.
const NEAREST_M: f32 = 0.3;
/// Farther things are smaller than the noise of their depth lets them be told apart, in metres.
const FARTHEST_M: f32 = 3.2;
/// On the floor stand legs, pots and walls: only what is near and seen whole counts as a thing there, in metres.
const FARTHEST_ON_FLOOR_M: f32 = 2.2;
/// The share of a border that may run on into what stands on no support.
const LEAK_MAX: f32 = 0.1;

/// Why a picture cannot be looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The camera gives no depth.
    #[error("no depth")]
    NoDepth,
    /// The camera's model is not known.
    #[error("no intrinsics")]
    NoIntrinsics,
    /// Picture, depth and model have different sizes, or the picture is too small.
    #[error("picture {rgb}, depth {depth} and intrinsics {intrinsics} must have one size of at least 32x24")]
    Sizes {
        /// Size of the picture.
        rgb: String,
        /// Size of the depth.
        depth: String,
        /// Size in the camera's model.
        intrinsics: String,
    },
}

/// A thing on a support.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its pixels.
    pub mask: Mask,
    /// Its colour.
    pub colour: ColourName,
    /// Its shape and measures.
    pub fit: ShapeFit,
    /// The support it stands on, as an index into the scene's supports.
    pub support: usize,
    /// Median distance along the optical axis, in metres.
    pub depth: f32,
}

/// What one picture shows.
#[derive(Clone, Debug)]
pub struct Scene {
    /// Level surfaces, highest first.
    pub supports: Vec<Support>,
    /// Things on them, from left to right.
    pub objects: Vec<Object>,
    /// People.
    pub people: Vec<Person>,
    /// The camera that saw it.
    pub camera: Camera,
    /// Whether the level frame is `map`. Otherwise it was guessed, and the floor is unknown.
    pub localised: bool,
    level_from_camera: Pose,
    classes: Vec<u8>,
}

impl Scene {
    /// The regions where a disc of that radius finds room, largest clearance first: on raised supports, or on the floor.
    /// At most eight; places nearer to each other than the radius are one.
    pub fn free_regions(&self, radius: f32, on_floor: bool) -> Vec<FreeRegion> {
        let wanted = |index: &usize| (self.supports[*index].kind == SupportKind::Floor) == on_floor;
        let mut regions: Vec<FreeRegion> = (0..self.supports.len())
            .filter(wanted)
            .flat_map(|index| free_regions(&self.camera, &self.classes, &self.supports, index, radius))
            .collect();
        regions.sort_by(|a, b| b.clearance.total_cmp(&a.clearance));
        let mut apart: Vec<FreeRegion> = Vec::new();
        for region in regions {
            if apart.len() < REGIONS_MAX && apart.iter().all(|other| other.place.distance(region.place) >= radius) {
                apart.push(region);
            }
        }
        apart
    }

    /// The level frame from the camera's optical frame.
    pub fn level_from_camera(&self) -> Pose {
        self.level_from_camera
    }

    /// The best place on one support for a disc of that radius, and the room around it: room first, up to twice the radius,
    /// then nearness to `near`. `None` when there is no such place in view.
    pub fn free_place(&self, support: usize, radius: f32, near: Vec2) -> Option<(Vec3, f32)> {
        free_place(&self.camera, &self.classes, &self.supports, support, radius, near)
    }

    /// A point of the level frame in the camera's optical frame, for a robot that is not localised.
    pub fn in_camera(&self, point: Vec3) -> Vec3 {
        self.level_from_camera.inverse().transform_point(point.as_dvec3()).as_vec3()
    }
}

/// Looks at pictures. Keeps its buffers between them and nothing else: the same picture always gives the same scene.
#[derive(Debug, Default)]
pub struct Analyser {
    surface: Surface,
    components: Components,
    points: Vec<Vec3>,
    normals: Vec<Vec3>,
}

impl Analyser {
    /// Finds supports, the things on them, and people.
    pub fn analyse(&mut self, frame: &Frame) -> Result<Scene, ViewError> {
        let depth = frame.depth.as_deref().ok_or(ViewError::NoDepth)?;
        let intrinsics = frame.intrinsics.ok_or(ViewError::NoIntrinsics)?;
        let rgb = frame.rgb.as_ref();
        check_sizes(rgb, depth, &intrinsics)?;
        self.surface.smooth(depth);
        let (pose, localised) = self.level(&intrinsics, frame.map_from_camera);
        let camera = Camera::new(&intrinsics, &pose);
        self.surface.measure(&camera);
        let focal = camera.focal();
        let supports = find_supports(&self.surface, focal, camera.position(), localised);
        let mut classes = Vec::new();
        classify(&camera, &self.surface, &supports, &mut classes);
        let least = PIXELS_MIN * camera.width * camera.height / (640 * 480);
        self.components.find(&classes, &self.surface.depth, camera.width, least.max(20));
        let (parts, of_cell) = split(&self.surface, &self.components, &classes, rgb);
        let pixels = self.pixels_of(parts, &of_cell, camera.width);
        let mut taken = vec![false; parts];
        let mut objects = Vec::new();
        for (index, pixels) in pixels.iter().enumerate() {
            let view = View { camera: &camera, classes: &classes, supports: &supports, rgb };
            if pixels.len() >= least
                && let Some(object) = self.object_of(pixels, &view)
            {
                taken[index] = true;
                objects.push(object);
            }
        }
        objects.sort_by_key(|object: &Object| (object.mask.bounds.x, object.mask.bounds.y));
        let is_taken = |cell: usize| of_cell[cell] != NONE && taken[of_cell[cell] as usize];
        let people = find_people(&self.surface, &classes, &camera, &supports, is_taken);
        Ok(Scene { supports, objects, people, camera, localised, level_from_camera: pose, classes })
    }

    fn level(&mut self, intrinsics: &Intrinsics, map_from_camera: Option<Pose>) -> (Pose, bool) {
        if let Some(pose) = map_from_camera {
            return (pose, true);
        }
        self.surface.measure(&Camera::new(intrinsics, &Pose::IDENTITY));
        (level_from_camera(&self.surface).unwrap_or(LOOKING_AHEAD), false)
    }

    fn pixels_of(&self, parts: usize, of_cell: &[u32], width: usize) -> Vec<Vec<u32>> {
        let mut pixels = vec![Vec::new(); parts];
        for component in 0..self.components.len() {
            for &pixel in self.components.pixels(component) {
                if let Some(part) = self.part_of(pixel as usize, component as u32, of_cell, width) {
                    pixels[part as usize].push(pixel);
                }
            }
        }
        pixels
    }

    /// The part of the pixel's own cell, or of the nearest one whose middle lies in the same component.
    fn part_of(&self, pixel: usize, component: u32, of_cell: &[u32], width: usize) -> Option<u32> {
        let (columns, rows) = (self.surface.columns, self.surface.rows);
        let home = self.surface.cell_of(pixel, width);
        let (column, row) = (home % columns, home / columns);
        [(0, 0), (0, -1), (-1, 0), (1, 0), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)].into_iter().find_map(
            |(dx, dy)| {
                let (x, y) = (column.checked_add_signed(dx)?, row.checked_add_signed(dy)?);
                let cell = (x < columns && y < rows).then(|| y * columns + x)?;
                let own = self.components.labels[self.surface.pixel_of(cell, width)] == component;
                (own && of_cell[cell] != NONE).then(|| of_cell[cell])
            },
        )
    }

    fn object_of(&mut self, pixels: &[u32], view: &View<'_>) -> Option<Object> {
        let width = view.camera.width;
        let support = support_below(view.classes[pixels[0] as usize])?;
        let depth = median_depth(pixels, &self.surface.depth);
        let inside = Patch::of(pixels, width);
        let floor = view.supports[support].kind == SupportKind::Floor;
        let farthest = if floor { FARTHEST_ON_FLOOR_M } else { FARTHEST_M };
        if floor && self.top_is_hidden(pixels, &inside, width) {
            return None;
        }
        if !(NEAREST_M..farthest).contains(&depth)
            || !self.stands(pixels, &inside, view, support)
            || self.leaks(pixels, &inside, view, support)
        {
            return None;
        }
        let inner = self.gather(pixels, &inside, view);
        let middle = self.points.iter().sum::<Vec3>() / self.points.len().max(1) as f32;
        let ground = view.supports[support].height_at(middle.truncate());
        let noise = depth_sigma(depth) / 3.0;
        let eye = view.camera.position();
        let fit = fit(&Seen { points: &self.points, normals: &self.normals, ground, eye, noise });
        let too_large = fit.length > LENGTH_MAX_M || fit.height > HEIGHT_MAX_M;
        // A carpet, or the noise of a surface.
        let too_flat = fit.height < 0.008 + 3.0 * noise;
        if too_large || too_flat || (floor && is_own_body(pixels, view, middle)) {
            return None;
        }
        let around = Around {
            rgb: view.rgb,
            depth: &self.surface.depth,
            classes: view.classes,
            plane: on_plane(support),
            focal: view.camera.focal(),
        };
        let mask = mask_of(pixels, &around);
        let mut count = ColourCount::default();
        // The cover of a book is a thin strip that would be lost with the border.
        let looked_at = if fit.shape == Shape::Book { pixels } else { inner.as_slice() };
        for &pixel in looked_at {
            count.add(view.rgb.pixel(pixel % width as u32, pixel / width as u32));
        }
        let colour = if fit.shape == Shape::Book { count.name_of_cover() } else { count.name() }?;
        Some(Object { mask, colour, fit, support, depth })
    }

    /// Whether it reaches down to its support, as far as nothing in front hides its foot.
    fn stands(&self, pixels: &[u32], inside: &Patch, view: &View<'_>, support: usize) -> bool {
        let width = view.camera.width;
        let depth = &self.surface.depth;
        let mut lowest: Vec<f32> = Vec::with_capacity(pixels.len() / 4 + 1);
        for &pixel in pixels.iter().step_by(4) {
            let point = view.camera.point(pixel as usize % width, pixel as usize / width, depth[pixel as usize]);
            lowest.push(point.z - view.supports[support].height_at(point.truncate()));
        }
        let at = lowest.len() / 50;
        let low = *lowest.select_nth_unstable_by(at, f32::total_cmp).1;
        if low < 0.022 + 0.003 * depth[pixels[0] as usize].powi(2) {
            return true;
        }
        let (mut hidden, mut feet) = (0, 0);
        for &pixel in pixels {
            let below = pixel as usize + width;
            if below >= depth.len() {
                (hidden, feet) = (hidden + 1, feet + 1);
            } else if !inside.contains(below) {
                feet += 1;
                let other_thing = support_below(view.classes[below]) == Some(support);
                let in_front = depth[below] > 0.0 && depth[below] < depth[pixel as usize] - 0.01;
                hidden += usize::from(other_thing || in_front);
            }
        }
        low < 0.25 && hidden * 10 > feet * 6
    }

    /// Whether something in front hides where it ends above.
    fn top_is_hidden(&self, pixels: &[u32], inside: &Patch, width: usize) -> bool {
        let depth = &self.surface.depth;
        let tops = pixels
            .iter()
            .map(|&pixel| pixel as usize)
            .filter(|&pixel| pixel < width || !inside.contains(pixel - width));
        let (mut all, mut hidden) = (0, 0);
        for pixel in tops {
            all += 1;
            let in_front = |above: usize| depth[above] > 0.0 && depth[above] < depth[pixel] - 0.01;
            hidden += usize::from(pixel < width || in_front(pixel - width));
        }
        hidden * 10 > all * 4
    }

    /// Whether its border runs on, without a step, into what is part of no support: then it is part of something larger,
    /// such as an arm, a wall or a chair.
    fn leaks(&self, pixels: &[u32], inside: &Patch, view: &View<'_>, support: usize) -> bool {
        let width = view.camera.width;
        let depth = &self.surface.depth;
        let (mut border, mut leaking) = ([0_usize; 4], [0_usize; 4]);
        for &pixel in pixels {
            let pixel = pixel as usize;
            let around = [pixel.wrapping_sub(width), pixel.wrapping_sub(1), pixel + 1, pixel + width];
            for (side, near) in around.into_iter().enumerate() {
                if near >= depth.len() || inside.contains(near) {
                    continue;
                }
                border[side] += 1;
                let class = view.classes[near];
                let own = class == UNSEEN || class == on_plane(support) || support_below(class) == Some(support);
                let leaks = !own && (depth[near] - depth[pixel]).abs() < step_gate(depth[pixel]);
                leaking[side] += usize::from(leaks);
            }
        }
        let all = leaking.iter().sum::<usize>() as f32 > LEAK_MAX * border.iter().sum::<usize>() as f32;
        // A leg or a wall between two things runs on at one end only.
        let one_side = border.iter().zip(leaking).any(|(&border, leaking)| border >= 4 && leaking * 2 > border);
        all || one_side
    }

    /// Collects points and normals of the thing, and answers its pixels away from the border.
    fn gather(&mut self, pixels: &[u32], inside: &Patch, view: &View<'_>) -> Vec<u32> {
        let width = view.camera.width;
        let is_inner = |pixel: usize| {
            [pixel.wrapping_sub(2), pixel + 2, pixel.wrapping_sub(2 * width), pixel + 2 * width]
                .into_iter()
                .all(|near| inside.contains(near))
        };
        let stride = (pixels.len() / 1_200).max(1);
        let mut inner: Vec<u32> =
            pixels.iter().copied().step_by(stride).filter(|&pixel| is_inner(pixel as usize)).collect();
        if inner.len() < 20 {
            inner = pixels.to_vec();
        }
        self.points.clear();
        self.normals.clear();
        for &pixel in &inner {
            let at = pixel as usize;
            self.points.push(view.camera.point(at % width, at / width, self.surface.depth[at]));
            self.normals.push(self.surface.normals[self.surface.cell_of(at, width)]);
        }
        inner
    }
}

/// Which pixels of the picture belong to one thing.
struct Patch {
    bounds: PixelBox,
    picture_width: usize,
    inside: Vec<bool>,
}

impl Patch {
    fn of(pixels: &[u32], picture_width: usize) -> Self {
        let bounds = bounds_of(pixels, picture_width);
        let mut patch = Self { bounds, picture_width, inside: vec![false; bounds.area() as usize] };
        for &pixel in pixels {
            let at = patch.local(pixel as usize).expect("the bounds hold every pixel");
            patch.inside[at] = true;
        }
        patch
    }

    fn local(&self, pixel: usize) -> Option<usize> {
        let column = (pixel % self.picture_width).checked_sub(self.bounds.x as usize)?;
        let row = (pixel / self.picture_width).checked_sub(self.bounds.y as usize)?;
        let within = column < self.bounds.width as usize && row < self.bounds.height as usize;
        within.then(|| row * self.bounds.width as usize + column)
    }

    fn contains(&self, pixel: usize) -> bool {
        self.local(pixel).is_some_and(|at| self.inside[at])
    }
}

struct View<'a> {
    camera: &'a Camera,
    classes: &'a [u8],
    supports: &'a [Support],
    rgb: &'a RgbImage,
}

/// A camera whose place is unknown and that sees no flat surface: it looks straight ahead.
const LOOKING_AHEAD: Pose = Pose::new(glam::DVec3::ZERO, glam::DQuat::from_xyzw(-0.5, 0.5, -0.5, 0.5));

/// On the floor right below the camera and at the lower border of the picture: the robot's own base.
fn is_own_body(pixels: &[u32], view: &View<'_>, middle: Vec3) -> bool {
    let bounds = bounds_of(pixels, view.camera.width);
    let at_border = (bounds.y + bounds.height) as usize + 2 >= view.camera.height;
    let away: Vec2 = (middle - view.camera.position()).truncate();
    at_border && away.length() < 0.8
}

fn check_sizes(rgb: &RgbImage, depth: &DepthImage, intrinsics: &Intrinsics) -> Result<(), ViewError> {
    let (width, height) = (rgb.width, rgb.height);
    let one_size = depth.width == width && depth.height == height && classes::fits(intrinsics, width, height);
    if one_size && width >= 32 && height >= 24 {
        return Ok(());
    }
    Err(ViewError::Sizes {
        rgb: format!("{width}x{height}"),
        depth: format!("{}x{}", depth.width, depth.height),
        intrinsics: format!("{}x{}", intrinsics.width, intrinsics.height),
    })
}

#[cfg(test)]
mod tests;
