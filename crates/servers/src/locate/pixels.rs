use cerebellum_core::{Found, SkillMode};
use cerebellum_geometry::click::{self, ClickError};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::locate::{GraspAnswer, grasp_from_pixel, pixel_to_3d};
use cerebellum_wire::{ToolOutcome, text};
use glam::DVec3;

use super::eyes::Sight;
use super::seek::{in_map, score, skill};
use super::{Ended, Server};

impl Server {
    pub(super) async fn pixel_to_3d(&self, given: &pixel_to_3d::Arguments) -> Result<ToolOutcome, Ended> {
        let sight = self.clicked(given.frame_stamp).await?;
        let point = in_map(&sight.frame, point(&sight, given.u, given.v)?);
        let stamp = sight.frame.stamp.as_secs_micros();
        let answer = pixel_to_3d::Answer { x: point.x, y: point.y, z: point.z, frame: point.frame, stamp };
        Ok(ToolOutcome::done(&answer))
    }

    pub(super) async fn grasp_from_pixel(
        &self,
        given: &grasp_from_pixel::Arguments,
        context: &CallContext,
    ) -> Result<ToolOutcome, Ended> {
        let sight = self.clicked(given.frame_stamp).await?;
        let mut answer = GraspAnswer { age_s: Some(sight.age_s), ..Default::default() };
        point(&sight, given.u, given.v)?;
        let seen = self.look_at(sight, skill(SkillMode::SegmentAll, None, Vec::new()), context).await?;
        answer.notes = seen.notes;
        let (u, v) = (given.u as u32, given.v as u32);
        let shown = seen.look.detections.iter().filter_map(|found| Some((found, found.mask.as_ref()?)));
        let under = shown.filter(|(_, mask)| mask.contains(u, v)).min_by_key(|(_, mask)| mask.pixels());
        let Some((found, mask)) = under else {
            let reason = format!("pixel {u}, {v} shows no single thing");
            answer.reason = Some(reason.clone());
            return Err(Ended::no("not_found", reason, "Click on a thing that capture_scene outlines.", &answer));
        };
        answer.label = Some(text::cut(&found.detection.label));
        answer.score = Some(score(found));
        self.take(&seen.sight.frame, mask.clone(), given.side.map(Into::into), answer).await
    }

    /// The picture that was clicked, or the newest.
    async fn clicked(&self, stamp: Option<f64>) -> Result<Sight, Ended> {
        match stamp {
            Some(stamp) => self.eyes.kept(stamp),
            None => self.eyes.newest().await,
        }
    }
}

/// Where the picture is asked to be cut when an engine gives no mask: nowhere.
pub(super) fn is_masked(found: &Found) -> bool {
    found.mask.is_some()
}

fn point(sight: &Sight, u: f64, v: f64) -> Result<DVec3, Ended> {
    click::point(&sight.frame, u, v).map_err(|error| {
        let (code, next) = match error {
            ClickError::Outside { .. } => ("outside_picture", "Give a pixel inside the picture."),
            ClickError::NoCamera => ("no_depth", "Use a camera that measures depth and tells its model."),
            ClickError::NoDepth => ("no_depth", "Click on a spot beside it: shiny and distant things have no depth."),
        };
        Ended::no(code, error.to_string(), next, &())
    })
}
