use std::collections::BTreeMap;
use std::sync::Arc;

use cerebellum_core::{Frame, Intrinsics, Pose, Stamp, TruthFrame};
use cerebellum_sim::render::{Camera, Looks, render};
use cerebellum_sim::sensor::Sensor;
use cerebellum_sim::world::World;

/// One picture of a simulated home, and the truth about it.
pub(crate) struct View {
    pub(crate) frame: Arc<Frame>,
    pub(crate) truth: TruthFrame,
    /// The pixels that each thing would have with nothing in front of it.
    #[allow(dead_code, reason = "only the scorer asks for it")]
    pub(crate) unhidden: BTreeMap<u16, usize>,
}

/// What the head camera sees.
pub(crate) fn head(world: &World, width: u32, seq: u64) -> View {
    look(world, world.robot().map_from_camera(), width, seq)
}

/// What a camera at that place sees, with the noise of a real one.
pub(crate) fn look(world: &World, map_from_camera: Pose, width: u32, seq: u64) -> View {
    let height = width * 3 / 4;
    let focal = 525.0 * f64::from(width) / 640.0;
    let (cx, cy) = (f64::from(width) / 2.0, f64::from(height) / 2.0);
    let intrinsics = Intrinsics { width, height, fx: focal, fy: focal, cx, cy };
    let camera = Camera { intrinsics, map_from_camera };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("one thread can be started");
    let parts = world.parts();
    let rendering = render(&parts, &camera, Looks::Live, &pool);
    let (rgb, depth) = Sensor::new(world.scene().seed).expose(&rendering, seq);
    let objects = world.truth();
    let mut unhidden = BTreeMap::new();
    for object in &objects {
        if !rendering.ids.contains(&object.instance) {
            continue;
        }
        let alone: Vec<_> = parts.iter().filter(|part| part.instance == object.instance).copied().collect();
        let pixels =
            render(&alone, &camera, Looks::Live, &pool).ids.iter().filter(|&&id| id == object.instance).count();
        unhidden.insert(object.instance, pixels);
    }
    let frame = Frame {
        stamp: Stamp::from_nanos(1_700_000_000_000_000_000 + seq.cast_signed() * 100_000_000),
        seq,
        frame_id: "head_camera_optical".into(),
        rgb,
        depth: Some(depth),
        intrinsics: Some(intrinsics),
        map_from_camera: Some(map_from_camera),
    };
    let truth = TruthFrame { width, height, ids: rendering.ids, objects };
    View { frame: Arc::new(frame), truth, unhidden }
}
