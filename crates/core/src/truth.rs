use std::sync::Arc;

use glam::DVec3;

/// A thing the simulator knows of.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthObject {
    /// The number of its pixels in [`TruthFrame::ids`].
    pub instance: u16,
    /// Its unique name in the scene, such as `coke`.
    pub name: String,
    /// What a person would call it, such as `red can`.
    pub label: String,
    /// Whether it is a person.
    pub is_person: bool,
    /// Whether it lies on a support and can be grasped.
    pub is_graspable: bool,
    /// Its centre in `map`, in metres.
    pub centre: DVec3,
}

/// Which thing each pixel of a frame shows. Only a simulator can answer this.
#[derive(Clone, Debug, PartialEq)]
pub struct TruthFrame {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// The instance number of each pixel; 0 is background.
    pub ids: Vec<u16>,
    /// The things of the scene, in view or not.
    pub objects: Vec<TruthObject>,
}

/// The simulator's own knowledge of its pictures. For tests and teaching: no engine that serves a robot may ask it.
pub trait GroundTruth: Send + Sync {
    /// The truth of the frame with that `seq`, if it is one of the last few.
    fn truth_of(&self, seq: u64) -> Option<Arc<TruthFrame>>;
}
