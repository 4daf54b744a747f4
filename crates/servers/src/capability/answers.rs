use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use cerebellum_core::{FloorMap, RobotState};
use cerebellum_wire::tools::motion::{
    self as words, allow_gripper_touch, clear_octomap, get_map, get_pose, get_state, list_waypoints, robot_state,
    save_waypoint, save_waypoint_from_goal, set_goal, stop,
};
use cerebellum_wire::{ToolOutcome, arguments};
use image::codecs::png::PngEncoder;
use image::{ExtendedColorType, ImageEncoder};
use serde_json::{Map, Value, json};

use super::numbers;
use super::waypoints::{self, Saved};
use super::{Failure, Server, base};

/// The size of a list of places, in bytes of JSON.
const PLACES_BYTES_MAX: usize = 14_000;
/// The most points of a path that an answer holds; the rest is thinned out.
const PATH_MAX: usize = 100;
/// The most cells of a map's picture; a larger map is told coarser.
const CELLS_MAX: usize = 1_500_000;

impl Server {
    pub(super) async fn get_pose(&self) -> Result<ToolOutcome, Failure> {
        let state = self.drives.state().await?;
        let place = words::Place::of(&self.measured_base().await?);
        Ok(ToolOutcome::done(&get_pose::Answer { place, age_s: self.age(&state), frame: state.frame }))
    }

    pub(super) async fn get_state(&self) -> Result<ToolOutcome, Failure> {
        let state = self.drives.state().await?;
        if let Some(base) = state.base.as_ref().filter(|base| !base.is_moving && state.running.is_none()) {
            self.stands.stands_at(base.pose, self.ports.clock.now());
        }
        let base = state.base.as_ref().map(|base| get_state::Base {
            place: words::Place::of(&base.pose),
            frame: state.frame.clone(),
            vx_mps: words::metres(base.velocity[0]),
            vy_mps: words::metres(base.velocity[1]),
            wz_dps: words::degrees(base.turn_rate),
            moving: base.is_moving,
        });
        let arms = state.hands.iter().map(|hand| {
            // What the gripper measures counts more than what was picked up.
            let object = if hand.holds == Some(false) { None } else { self.label(hand.side) };
            let arm = get_state::Arm { held: hand.holds, object, posture: hand.posture.clone() };
            (hand.side.as_str().to_owned(), arm)
        });
        Ok(ToolOutcome::done(&get_state::Answer {
            base,
            arms: arms.collect(),
            stop: get_state::Stop {
                latched: state.stop.is_latched,
                by: state.stop.by.clone(),
                since: state.stop.since.map(cerebellum_core::Stamp::as_secs_micros),
            },
            motion: state.running.as_ref().map(|running| get_state::Running {
                tool: running.name.clone(),
                since: running.since.as_secs_micros(),
            }),
            path: thinned(&state.path),
            map_version: state.map_version,
            age_s: self.age(&state),
        }))
    }

    pub(super) async fn robot_state(&self) -> Result<ToolOutcome, Failure> {
        let state = self.drives.state().await?;
        let stopped = state.stop.is_latched.then(|| match &state.stop.by {
            Some(by) => format!("the robot is stopped until a person resumes it (stopped by {by})"),
            None => "the robot is stopped until a person resumes it".to_owned(),
        });
        let issues: Vec<String> = state.issue.iter().cloned().chain(stopped).collect();
        let reasoning = format!("the robot's own report of {:.1} s ago", self.age(&state));
        if issues.is_empty() {
            return Ok(ToolOutcome::done(&robot_state::Answer { issue: String::new(), reasoning }));
        }
        let issue = issues.join("; ");
        Err(Failure::no(
            "robot_issue",
            issue.clone(),
            "Do not go on before this is well; a person may have to look at the robot.",
            &robot_state::Answer { issue, reasoning },
        ))
    }

    pub(super) async fn get_map(&self) -> Result<ToolOutcome, Failure> {
        let map = self.map().await?;
        let drawn = Drawn::of(&map).ok_or_else(|| {
            Failure::no("no_map", "the robot's map has no cells", "Wait until the robot has a map.", &())
        })?;
        let region = |region: &cerebellum_core::Region| get_map::Region {
            name: region.name.clone(),
            outline: region.outline.iter().map(|&[x, y]| [words::metres(x), words::metres(y)]).collect(),
            surface_height_m: region.surface_height.map(words::metres),
        };
        Ok(ToolOutcome::done(&get_map::Answer {
            map_id: map.id.clone(),
            frame: map.frame.clone(),
            resolution_m: map.resolution_m * f64::from(drawn.factor),
            origin: words::Place::of(&map.origin),
            width: drawn.width,
            height: drawn.height,
            grid_png_b64: STANDARD.encode(drawn.png()?),
            rooms: map.rooms.iter().map(region).collect(),
            furniture: map.furniture.iter().map(region).collect(),
            keepouts: map
                .keep_outs
                .iter()
                .map(|zone| get_map::Region {
                    name: zone.name.clone(),
                    outline: zone.outline.clone(),
                    surface_height_m: None,
                })
                .collect(),
            version: map.version,
        }))
    }

    pub(super) async fn list_waypoints(&self) -> Result<ToolOutcome, Failure> {
        let (known, warning) = self.waypoints.read().await.map_err(|error| waypoints::unusable(&error))?;
        let map_id = self.map_id().await?;
        let (mut left, mut omitted) = (PLACES_BYTES_MAX, 0);
        let mut here = BTreeMap::new();
        let mut other_maps = Vec::new();
        for saved in known {
            // The name stands twice in each row.
            let bytes = 2 * saved.name.len() + 80;
            if bytes > left {
                omitted += 1;
            } else if saved.map_id == map_id {
                left -= bytes;
                let place = words::Place { x: saved.x, y: saved.y, yaw_deg: saved.yaw_deg };
                let waypoint = list_waypoints::Waypoint { name: saved.name.clone(), place };
                here.insert(saved.name, waypoint);
            } else {
                left -= bytes;
                other_maps.push(saved.name);
            }
        }
        let omitted = (omitted > 0).then_some(omitted);
        Ok(super::with_warning(
            ToolOutcome::done(&list_waypoints::Answer { waypoints: here, map_id, other_maps, omitted }),
            warning,
        ))
    }

    pub(super) async fn save_waypoint(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let save_waypoint::Arguments { name } = arguments::parse(given)?;
        let name = waypoints::name_of(&name)?;
        let state = self.drives.state().await?;
        if self.parts.map && state.frame != "map" {
            return Err(Failure::no(
                "not_localised",
                format!("the robot does not know where it is on its map (its pose is in {:?})", state.frame),
                "Let the robot find itself first, then save the place.",
                &(),
            ));
        }
        let place = words::Place::of(&self.measured_base().await?);
        let (replaced, warning) = self.save(&name, place).await?;
        Ok(super::with_warning(
            ToolOutcome::done(&save_waypoint::Answer { name, place, replaced: replaced.then_some(true) }),
            warning,
        ))
    }

    pub(super) async fn save_waypoint_from_goal(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let save_waypoint_from_goal::Arguments { name } = arguments::parse(given)?;
        let name = waypoints::name_of(&name)?;
        let on_map = self.drives.within("marked goal", self.ports.robot.marked_goal()).await?;
        let own = *self.goal.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let newest = [on_map, own].into_iter().flatten().max_by_key(|(_, stamp)| *stamp);
        let Some((goal, stamp)) = newest else {
            return Err(Failure::no(
                "no_goal",
                "no goal was marked yet",
                "Mark a goal on the map, or call set_goal, then call this again.",
                &(),
            ));
        };
        let place = words::Place::of(&goal);
        let (replaced, warning) = self.save(&name, place).await?;
        let age_s = self.ports.clock.now().secs_since(stamp).max(0.0);
        Ok(super::with_warning(
            ToolOutcome::done(&save_waypoint_from_goal::Answer {
                name,
                place,
                age_s: words::metres(age_s),
                replaced: replaced.then_some(true),
            }),
            warning,
        ))
    }

    pub(super) async fn set_goal(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        base::check_place(&given)?;
        let set_goal::Arguments { x, y, yaw_deg } = arguments::parse(given)?;
        let goal = numbers::goal(&self.limits().await?, x, y, yaw_deg)?;
        *self.goal.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some((goal, self.ports.clock.now()));
        let place = words::Place::of(&goal);
        Ok(ToolOutcome::done(&set_goal::Answer { place, frame: "map".into() }))
    }

    pub(super) async fn clear_octomap(&self) -> Result<ToolOutcome, Failure> {
        self.drives.within("answer to clear_octomap", self.ports.robot.clear_obstacles()).await?;
        Ok(ToolOutcome::done(&clear_octomap::Answer {}))
    }

    pub(super) async fn allow_gripper_touch(&self, given: Map<String, Value>) -> Result<ToolOutcome, Failure> {
        let allow_gripper_touch::Arguments { target, allow } = arguments::parse(given)?;
        let target = target.as_deref().map(super::plain).filter(|text| !text.is_empty());
        let asking = self.ports.robot.allow_touch(target.as_deref(), allow.unwrap_or(true));
        self.drives.within("answer to allow_gripper_touch", asking).await?;
        Ok(ToolOutcome::done(&allow_gripper_touch::Answer {}))
    }

    pub(super) async fn stop(&self, by: &str) -> Result<ToolOutcome, Failure> {
        let report = self.drives.stop(by).await?;
        let speed_mps = words::metres(report.speed_mps);
        // A robot that has stopped is latched by its port's promise, unless it says otherwise.
        let latched = match self.drives.state_after_now().await {
            Ok((state, true)) => state.stop.is_latched,
            Ok((_, false)) | Err(_) => report.is_stopped,
        };
        let answer = stop::Answer { stopped: report.is_stopped, speed_mps, latched };
        if report.is_stopped && latched {
            return Ok(ToolOutcome::done(&answer));
        }
        Err(Failure::no(
            "stop_not_confirmed",
            format!(
                "the robot was told to stop and was not measured to stand still; its last speed is {speed_mps} m/s"
            ),
            "Call stop again, and let a person press the emergency stop if the robot moves.",
            &answer,
        ))
    }

    /// The robot's map.
    pub(super) async fn map(&self) -> Result<FloorMap, Failure> {
        Ok(self.drives.within("map", self.ports.robot.map()).await?)
    }

    /// Which map the robot uses; `None` when it has none.
    pub(super) async fn map_id(&self) -> Result<Option<String>, Failure> {
        if self.parts.map { Ok(Some(self.map().await?.id)) } else { Ok(None) }
    }

    async fn save(&self, name: &str, pose: words::Place) -> Result<(bool, Option<String>), Failure> {
        let map_id = self.map_id().await?;
        let saved = Saved { name: name.to_owned(), x: pose.x, y: pose.y, yaw_deg: pose.yaw_deg, map_id };
        self.waypoints.save(saved).await.map_err(|error| waypoints::unusable(&error))
    }

    fn age(&self, state: &RobotState) -> f64 {
        words::metres(self.ports.clock.now().secs_since(state.stamp).max(0.0))
    }
}

/// The path with at most so many points, its end always among them.
fn thinned(path: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let step = path.len().div_ceil(PATH_MAX).max(1);
    let mut thinned: Vec<[f64; 2]> = path.iter().step_by(step).copied().collect();
    if let (Some(end), true) = (path.last(), step > 1) {
        thinned.pop();
        thinned.push(*end);
    }
    thinned.iter().map(|&[x, y]| [words::metres(x), words::metres(y)]).collect()
}

/// A map as a picture: white free, black occupied, grey unknown, the largest `y` on top.
struct Drawn {
    factor: u32,
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

impl Drawn {
    fn of(map: &FloorMap) -> Option<Self> {
        let (width, height) = (map.width as usize, map.height as usize);
        if width == 0 || height == 0 || map.cells.len() != width * height {
            return None;
        }
        let mut factor = 1;
        while width.div_ceil(factor) * height.div_ceil(factor) > CELLS_MAX {
            factor += 1;
        }
        let (across, up) = (width.div_ceil(factor), height.div_ceil(factor));
        let mut pixels = Vec::with_capacity(across * up);
        for row in (0..up).rev() {
            for column in 0..across {
                let rows = row * factor..((row + 1) * factor).min(height);
                let columns = column * factor..((column + 1) * factor).min(width);
                // An obstacle shows however coarse the picture is.
                let worst = rows.flat_map(|y| columns.clone().map(move |x| map.cells[y * width + x])).max();
                pixels.push(match worst {
                    Some(cell) if cell >= 0 => 255 - (i32::from(cell.min(100)) * 255 / 100) as u8,
                    Some(_) | None => 128,
                });
            }
        }
        Some(Self { factor: factor as u32, width: across as u32, height: up as u32, pixels })
    }

    fn png(&self) -> Result<Vec<u8>, Failure> {
        let mut png = Vec::new();
        let encoder = PngEncoder::new(&mut png);
        match encoder.write_image(&self.pixels, self.width, self.height, ExtendedColorType::L8) {
            Ok(()) => Ok(png),
            Err(error) => {
                Err(Failure::no("no_map", format!("the map cannot be drawn: {error}"), "Call again.", &json!({})))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(width: u32, height: u32, cells: Vec<i8>) -> FloorMap {
        FloorMap {
            id: "m".into(),
            frame: "map".into(),
            resolution_m: 0.05,
            origin: cerebellum_core::PlanarPose::default(),
            width,
            height,
            cells,
            rooms: Vec::new(),
            furniture: Vec::new(),
            keep_outs: Vec::new(),
            version: 1,
        }
    }

    #[test]
    fn the_largest_y_is_on_top() {
        let drawn = Drawn::of(&map(2, 2, vec![0, 100, -1, 0])).unwrap();
        assert_eq!(drawn.pixels, [128, 255, 255, 0]);
        assert!(Drawn::of(&map(2, 2, vec![0; 3])).is_none());
    }

    #[test]
    fn a_large_map_is_told_coarser_and_keeps_its_obstacles() {
        let mut cells = vec![0; 3_000 * 2_000];
        cells[1_234_567] = 100;
        let drawn = Drawn::of(&map(3_000, 2_000, cells)).unwrap();
        assert!(drawn.pixels.len() <= CELLS_MAX && drawn.factor > 1);
        assert_eq!(drawn.pixels.iter().filter(|&&pixel| pixel < 100).count(), 1);
    }

    #[test]
    fn a_long_path_is_thinned_and_keeps_its_end() {
        let path: Vec<[f64; 2]> = (0..1_234).map(|index| [f64::from(index), 0.0]).collect();
        let thin = thinned(&path);
        assert!(thin.len() <= PATH_MAX);
        assert_eq!(thin.last(), path.last());
        assert_eq!(thinned(&path[..3]), path[..3]);
    }
}
