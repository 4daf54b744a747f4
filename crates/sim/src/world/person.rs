use cerebellum_core::Pose;

use super::TICKS_PER_SECOND;
use crate::model::person::{Posture, parts};
use crate::render::Part;
use crate::scene;

/// The person of the scene: outside, on the way in, standing, or on the way out.
#[derive(Clone, Debug, PartialEq)]
pub struct Person {
    path: Vec<[f64; 2]>,
    faces: [f64; 2],
    stage: Stage,
}

/// Where in the visit the person is. Distances in metres along the path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    Outside,
    Entering { walked: f64 },
    Standing,
    Leaving { walked: f64 },
}

/// An unhurried walk.
const SPEED_MPS: f64 = 1.0;
/// Two steps.
const STRIDE_M: f64 = 1.3;

impl Person {
    /// Not in the home.
    pub fn outside(spec: Option<&scene::Person>) -> Self {
        let wide = |at: [f32; 2]| [f64::from(at[0]), f64::from(at[1])];
        let path = spec.map(|spec| spec.path.iter().copied().map(wide).collect()).unwrap_or_default();
        Self { path, faces: spec.map(|spec| wide(spec.faces)).unwrap_or_default(), stage: Stage::Outside }
    }

    pub fn stage(&self) -> Stage {
        self.stage
    }

    /// Comes in, or turns back when on the way out.
    pub fn enter(&mut self) {
        self.stage = match self.stage {
            Stage::Outside => Stage::Entering { walked: 0.0 },
            Stage::Leaving { walked } => Stage::Entering { walked: self.length() - walked },
            stage @ (Stage::Entering { .. } | Stage::Standing) => stage,
        };
    }

    /// Goes out, or turns back when on the way in.
    pub fn leave(&mut self) {
        self.stage = match self.stage {
            Stage::Standing => Stage::Leaving { walked: 0.0 },
            Stage::Entering { walked } => Stage::Leaving { walked: self.length() - walked },
            stage @ (Stage::Outside | Stage::Leaving { .. }) => stage,
        };
    }

    /// Whether the person stays where the person is.
    pub fn is_still(&self) -> bool {
        matches!(self.stage, Stage::Outside | Stage::Standing)
    }

    /// One tick; answers whether the person moved.
    pub fn step(&mut self) -> bool {
        let step = SPEED_MPS / TICKS_PER_SECOND as f64;
        let length = self.length();
        self.stage = match self.stage {
            Stage::Outside | Stage::Standing => return false,
            Stage::Entering { walked } if walked + step >= length => Stage::Standing,
            Stage::Entering { walked } => Stage::Entering { walked: walked + step },
            Stage::Leaving { walked } if walked + step >= length => Stage::Outside,
            Stage::Leaving { walked } => Stage::Leaving { walked: walked + step },
        };
        true
    }

    /// Where the person stands on the floor; `None` outside.
    pub fn place(&self) -> Option<Pose> {
        let (&last, _) = self.path.split_last()?;
        match self.stage {
            Stage::Outside => None,
            Stage::Entering { walked } => Some(self.on_path(walked, 1.0)),
            Stage::Leaving { walked } => Some(self.on_path(self.length() - walked, -1.0)),
            Stage::Standing => {
                let yaw = (self.faces[1] - last[1]).atan2(self.faces[0] - last[0]);
                Some(Pose::planar(last[0], last[1], yaw))
            }
        }
    }

    /// What can be seen of the person.
    pub fn parts(&self) -> Vec<Part> {
        let Some(place) = self.place() else { return Vec::new() };
        let posture = match self.stage {
            Stage::Outside | Stage::Standing => Posture::Standing,
            Stage::Entering { walked } | Stage::Leaving { walked } => {
                Posture::Walking { phase: (walked / STRIDE_M).fract() as f32 }
            }
        };
        parts(posture).into_iter().map(|part| part.placed(&place)).collect()
    }

    fn length(&self) -> f64 {
        self.path.windows(2).map(|leg| (leg[1][0] - leg[0][0]).hypot(leg[1][1] - leg[0][1])).sum()
    }

    fn on_path(&self, walked: f64, forward: f64) -> Pose {
        let mut left = walked;
        let mut pose = Pose::IDENTITY;
        for leg in self.path.windows(2) {
            let (dx, dy) = (leg[1][0] - leg[0][0], leg[1][1] - leg[0][1]);
            let length = dx.hypot(dy).max(1e-9);
            let share = (left / length).clamp(0.0, 1.0);
            pose = Pose::planar(leg[0][0] + dx * share, leg[0][1] + dy * share, (dy * forward).atan2(dx * forward));
            if left <= length {
                break;
            }
            left -= length;
        }
        pose
    }
}
