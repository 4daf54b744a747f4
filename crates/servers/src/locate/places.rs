use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

use cerebellum_core::{FloorMap, Frame, Pose, Region};
use cerebellum_geometry::hull::Hull;
use cerebellum_geometry::{Analyser, Scene, SupportKind, ViewError};
use cerebellum_mcp::CallContext;
use cerebellum_wire::tools::locate::{PlaceAnswer, PlacePoseWords, metres};
use cerebellum_wire::{ToolOutcome, text};
use glam::{DQuat, DVec3, Vec2, Vec3};
use serde_json::json;

use super::seek::checked;
use super::{Ended, Server};

/// How far a surface may lie from the height that the map gives it, in metres.
const HEIGHT_SLACK_M: f32 = 0.08;
/// The share of a seen surface that must lie on the furniture of that name.
const OVERLAP_MIN: f32 = 0.3;
/// Where the fingers would be when something is set down, above the surface, in metres.
const TIP_ABOVE_M: f64 = 0.08;
/// The most names that an answer lists.
const KNOWN_MAX: usize = 60;
/// Words that name no surface.
const ARTICLES: [&str; 6] = ["the", "a", "an", "on", "onto", "my"];

/// What the words mean.
enum Wanted<'a> {
    /// A piece of furniture of the map.
    Named(&'a Region),
    /// Any surface of a kind.
    Kind(SupportKind),
}

impl Server {
    pub(super) async fn place_pose(&self, surface: &str, context: &CallContext) -> Result<ToolOutcome, Ended> {
        let surface = checked("surface", surface)?;
        let map = match &self.ports.body {
            Some(body) => body.map().await.ok(),
            None => None,
        };
        let wanted = wanted(&surface, map.as_ref())?;
        let sight = tokio::select! {
            biased;
            () = context.cancelled.cancelled() => return Err(Ended::failed("cancelled", "the call was cancelled", "Call again.")),
            sight = self.eyes.fresh() => sight?,
        };
        let scene = analysed(&sight.frame).await?;
        let near = self.base_place().await.unwrap_or_else(|| scene.camera.position().truncate());
        let supports = in_view(&scene, &wanted, near);
        if supports.is_empty() {
            return Err(out_of_view(&surface, &wanted));
        }
        let radius = self.config.place_radius_m as f32;
        let places = supports.iter().filter_map(|&support| scene.free_place(support, radius, near));
        let Some((place, clearance)) = places.max_by(|a, b| a.1.total_cmp(&b.1)) else {
            let message =
                format!("{} is in view and has no free place of {:.0} cm", text::cut(&surface), radius * 200.0);
            return Err(Ended::no("no_room", message, "Make room on it, or look at it from another side.", &()));
        };
        let mut answer = PlaceAnswer {
            clearance_m: Some(metres(f64::from(clearance))),
            surface: Some(named(&wanted, map.as_ref(), place.truncate()).unwrap_or(surface)),
            age_s: Some(sight.age_s),
            ..Default::default()
        };
        let away = place.truncate() - near;
        let yaw = f64::from(away.y).atan2(f64::from(away.x));
        answer.pose = Some(pose_words(&scene, &sight.frame, place, yaw));
        if let Some(body) = self.ports.body.as_ref().filter(|_| scene.localised) {
            let at = place.as_dvec3() + DVec3::Z * TIP_ABOVE_M;
            let tip = Pose::new(at, DQuat::from_rotation_z(yaw) * DQuat::from_rotation_y(FRAC_PI_2));
            if let Ok(reach) = body.reach(None, &tip).await {
                answer.reachable = Some(reach.is_reachable);
                answer.side = Some(reach.side.into());
                answer.reason = reach.reason.map(|reason| text::cut_to(&reason, 300));
            }
        }
        Ok(ToolOutcome::done(&answer))
    }

    async fn base_place(&self) -> Option<Vec2> {
        let state = self.ports.body.as_ref()?.state().await.ok()?;
        let base = state.base.filter(|_| state.frame == "map")?;
        Some(Vec2::new(base.pose.x as f32, base.pose.y as f32))
    }
}

fn pose_words(scene: &Scene, frame: &Frame, place: Vec3, yaw: f64) -> PlacePoseWords {
    if scene.localised {
        let [x, y, z] = place.as_dvec3().to_array().map(metres);
        let yaw_deg = Some((yaw.to_degrees() * 10.0).round() / 10.0);
        return PlacePoseWords { x, y, z, frame: "map".to_owned(), yaw_deg };
    }
    let [x, y, z] = scene.in_camera(place).as_dvec3().to_array().map(metres);
    PlacePoseWords { x, y, z, frame: frame.frame_id.clone(), yaw_deg: None }
}

async fn analysed(frame: &Arc<Frame>) -> Result<Scene, Ended> {
    let frame = Arc::clone(frame);
    let scene = tokio::task::spawn_blocking(move || Analyser::default().analyse(&frame)).await;
    match scene {
        Ok(Ok(scene)) => Ok(scene),
        Ok(Err(error @ (ViewError::NoDepth | ViewError::NoIntrinsics))) => {
            let message = format!("the camera gives {error}, so surfaces cannot be measured");
            Err(Ended::no("no_depth", message, "Use a camera that measures depth and tells its model.", &()))
        }
        Ok(Err(error)) => Err(Ended::no("no_depth", error.to_string(), "Tell the operator to check the camera.", &())),
        Err(error) => Err(Ended::failed("engine_failed", error.to_string(), "Call again.")),
    }
}

fn tokens(name: &str) -> Vec<String> {
    let lower = name.to_lowercase();
    let words = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty() && !ARTICLES.contains(word));
    words.map(str::to_owned).collect()
}

fn wanted<'a>(surface: &str, map: Option<&'a FloorMap>) -> Result<Wanted<'a>, Ended> {
    let asked = tokens(surface);
    let surfaces = || map.into_iter().flat_map(|map| &map.furniture).filter(|region| region.surface_height.is_some());
    if let Some(region) = surfaces().find(|region| !asked.is_empty() && tokens(&region.name) == asked) {
        return Ok(Wanted::Named(region));
    }
    if let [word] = asked.as_slice() {
        match word.as_str() {
            "floor" | "ground" => return Ok(Wanted::Kind(SupportKind::Floor)),
            "table" | "desk" | "counter" | "surface" | "worktop" => return Ok(Wanted::Kind(SupportKind::Table)),
            "shelf" | "board" | "bookshelf" => return Ok(Wanted::Kind(SupportKind::Shelf)),
            _ => {}
        }
    }
    let holds_all =
        |region: &&Region| !asked.is_empty() && asked.iter().all(|word| tokens(&region.name).contains(word));
    let close: Vec<&Region> = surfaces().filter(holds_all).collect();
    if let [only] = close.as_slice() {
        return Ok(Wanted::Named(only));
    }
    let listed: Vec<String> = if close.is_empty() {
        surfaces().map(|region| text::cut(&region.name)).take(KNOWN_MAX).collect()
    } else {
        close.iter().map(|region| text::cut(&region.name)).collect()
    };
    let (code, what) =
        if close.is_empty() { ("unknown_surface", "no surface") } else { ("ambiguous", "more than one surface") };
    let message = format!("{what} is called {:?}", text::cut(surface));
    Err(Ended::no(code, message, "Take a name from `known`, or say table, shelf or floor.", &json!({"known": listed})))
}

/// The supports in view that are wanted, nearest first; of a kind only the nearest.
fn in_view(scene: &Scene, wanted: &Wanted<'_>, near: Vec2) -> Vec<usize> {
    let fits = |index: &usize| {
        let support = &scene.supports[*index];
        match wanted {
            Wanted::Kind(SupportKind::Table) => support.kind != SupportKind::Floor,
            Wanted::Kind(kind) => support.kind == *kind,
            Wanted::Named(region) => {
                let height = region.surface_height.unwrap_or_default() as f32;
                let level = (support.height - height).abs() < HEIGHT_SLACK_M;
                let shelf = support.kind == SupportKind::Shelf && support.height < height + HEIGHT_SLACK_M;
                (level || shelf) && support.hull.overlap(&hull_of(region)) > OVERLAP_MIN
            }
        }
    };
    let distance = |index: usize| scene.supports[index].hull.rectangle().centre.distance(near);
    let mut found: Vec<usize> = (0..scene.supports.len()).filter(fits).collect();
    found.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)));
    if matches!(wanted, Wanted::Kind(_)) {
        found.truncate(1);
    }
    found
}

fn hull_of(region: &Region) -> Hull {
    let corners: Vec<Vec2> = region.outline.iter().map(|&[x, y]| Vec2::new(x as f32, y as f32)).collect();
    Hull::around(&corners)
}

/// The name of the furniture there.
fn named(wanted: &Wanted<'_>, map: Option<&FloorMap>, place: Vec2) -> Option<String> {
    if let Wanted::Named(region) = wanted {
        return Some(text::cut(&region.name));
    }
    let on = |region: &&Region| region.surface_height.is_some() && hull_of(region).contains(place);
    map?.furniture.iter().find(on).map(|region| text::cut(&region.name))
}

fn out_of_view(surface: &str, wanted: &Wanted<'_>) -> Ended {
    let message = format!("{} is not in view", text::cut(surface));
    let Wanted::Named(region) = wanted else {
        return Ended::no("not_in_view", message, "Drive to one and look again.", &());
    };
    let centre = hull_of(region).rectangle().centre;
    let name = text::cut(&region.name);
    let next = format!(
        "It stands at x {:.2}, y {:.2} on the map: call navigate_to_named({name:?}) or turn there, then look again.",
        centre.x, centre.y
    );
    Ended::no("not_in_view", message, &next, &json!({"surface": name}))
}
