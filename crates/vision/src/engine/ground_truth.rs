use std::sync::Arc;

use async_trait::async_trait;
use cerebellum_core::{
    Detection, EngineError, Found, Frame, GroundTruth, Look, Looker, Mask, OutputName, OutputSpec, OutputType,
    OutputValue, PixelBox, Point, Prepared, Scalar, Skill, SkillMode, TruthFrame, TruthObject, Unjudged, VisionEngine,
};

use words::{Counted, Phrase};

mod words;

/// The fewest visible pixels that make a thing seen.
pub const PIXELS_MIN_DEFAULT: usize = 30;
/// The most names in a list output.
const LIST_MAX: usize = 10;

/// Answers from what the simulator knows of its own pictures: masks, names and places without error. For tests and teaching;
/// it says nothing about how well a robot would see. It never looks at a pixel, so it works on simulated frames only.
pub struct Engine {
    truth: Arc<dyn GroundTruth>,
    pixels_min: usize,
}

impl Engine {
    /// An engine that sees what has at least [`PIXELS_MIN_DEFAULT`] visible pixels.
    pub fn new(truth: Arc<dyn GroundTruth>) -> Self {
        Self::with_pixels_min(truth, PIXELS_MIN_DEFAULT)
    }

    /// An engine that sees what has at least that many visible pixels.
    pub fn with_pixels_min(truth: Arc<dyn GroundTruth>, pixels_min: usize) -> Self {
        Self { truth, pixels_min: pixels_min.max(1) }
    }
}

impl VisionEngine for Engine {
    fn name(&self) -> &'static str {
        "ground_truth"
    }

    fn prepare(&self, skill: &Skill) -> Prepared {
        let asked = match skill.mode {
            SkillMode::GroundAndSegment => skill.grounding.as_deref().map(Phrase::read),
            SkillMode::SegmentAll | SkillMode::Region | SkillMode::Describe => None,
        };
        let mut judges = Vec::new();
        let mut unjudged = Vec::new();
        for output in &skill.outputs {
            match Judge::of(output, skill.mode) {
                Some(judge) => judges.push((output.name.clone(), judge)),
                None => unjudged.push(Unjudged { output: output.name.clone(), reason: cannot_judge(output) }),
            }
        }
        let notes = (skill.mode == SkillMode::Region).then(|| NO_FREE_SPACE.to_owned());
        let looker = TruthLooker {
            truth: Arc::clone(&self.truth),
            pixels_min: self.pixels_min,
            mode: skill.mode,
            masks: skill.segment && skill.mode != SkillMode::Describe,
            asked,
            judges,
        };
        Prepared { looker: Box::new(looker), notes: notes.into_iter().collect(), unjudged }
    }
}

const NO_FREE_SPACE: &str = "engine ground_truth knows things, not free space; engine geometry finds it";

fn cannot_judge(output: &OutputSpec) -> String {
    format!(
        "engine ground_truth cannot judge {:?}; it judges booleans like \"a red can is visible\" and \"no person in view\", \
         numbers like \"number of cans\", and texts and lists of what is in view",
        output.description
    )
}

/// How the value of an output follows from what is in view.
enum Judge {
    Visible { thing: Phrase, gone: bool },
    Count(Counted),
    Names,
    Sentence,
}

impl Judge {
    fn of(output: &OutputSpec, mode: SkillMode) -> Option<Self> {
        if mode == SkillMode::Region {
            return None;
        }
        match output.output_type {
            OutputType::Boolean => {
                words::visibility(&output.description).map(|(thing, gone)| Self::Visible { thing, gone })
            }
            OutputType::Number => words::counted(&output.description).map(Self::Count),
            OutputType::List => Some(Self::Names),
            OutputType::Text => Some(Self::Sentence),
        }
    }

    fn value(&self, seen: &[Seen<'_>]) -> OutputValue {
        match self {
            Self::Visible { thing, gone } => {
                OutputValue::Boolean(seen.iter().any(|seen| thing.names(seen.object)) != *gone)
            }
            Self::Count(Counted::Everything) => OutputValue::Number(seen.len() as f64),
            Self::Count(Counted::Things(thing)) => {
                OutputValue::Number(seen.iter().filter(|seen| thing.names(seen.object)).count() as f64)
            }
            Self::Names => OutputValue::List(
                seen.iter().take(LIST_MAX).map(|seen| Scalar::Text(seen.object.label.clone())).collect(),
            ),
            Self::Sentence if seen.is_empty() => OutputValue::Text("Nothing is in view.".to_owned()),
            Self::Sentence => {
                let names: Vec<&str> = seen.iter().map(|seen| seen.object.label.as_str()).collect();
                OutputValue::Text(format!("In view: {}.", names.join(", ")))
            }
        }
    }
}

struct TruthLooker {
    truth: Arc<dyn GroundTruth>,
    pixels_min: usize,
    mode: SkillMode,
    masks: bool,
    asked: Option<Phrase>,
    judges: Vec<(OutputName, Judge)>,
}

#[async_trait]
impl Looker for TruthLooker {
    async fn look(&mut self, frame: Arc<Frame>) -> Result<Look, EngineError> {
        if self.mode == SkillMode::Region {
            return Err(EngineError::Failed { reason: NO_FREE_SPACE.to_owned() });
        }
        let truth = self.truth.truth_of(frame.seq).ok_or_else(|| EngineError::Missing {
            what: format!("the simulator's own knowledge of picture {}", frame.seq),
        })?;
        let pixels = u64::from(truth.width) * u64::from(truth.height);
        if (truth.width, truth.height) != (frame.rgb.width, frame.rgb.height) || truth.ids.len() as u64 != pixels {
            return Err(EngineError::Failed {
                reason: "the simulator's knowledge has another size than the picture".into(),
            });
        }
        let seen = visible(&truth, self.pixels_min);
        let detections = seen
            .iter()
            .filter(|seen| self.asked.as_ref().is_none_or(|asked| asked.names(seen.object)))
            .map(|seen| self.found(seen, &truth))
            .collect();
        let outputs = self.judges.iter().map(|(name, judge)| (name.clone(), judge.value(&seen))).collect();
        Ok(Look { detections, outputs, notes: Vec::new() })
    }
}

impl TruthLooker {
    fn found(&self, seen: &Seen<'_>, truth: &TruthFrame) -> Found {
        let mask = self.masks.then(|| seen.mask(truth)).flatten();
        Found {
            detection: Detection {
                id: Some(seen.object.name.clone()),
                label: self.asked.as_ref().map_or_else(|| seen.object.label.clone(), |asked| asked.text().to_owned()),
                score: 1.0,
                bounds: seen.bounds,
                has_mask: mask.is_some(),
                point: Some(Point { frame: "map".to_owned(), position: seen.object.centre }),
            },
            mask,
        }
    }
}

struct Seen<'a> {
    object: &'a TruthObject,
    bounds: PixelBox,
    pixels: usize,
}

impl Seen<'_> {
    fn mask(&self, truth: &TruthFrame) -> Option<Mask> {
        let PixelBox { x, y, width, height } = self.bounds;
        let rows = y..y + height;
        let data = rows
            .flat_map(|row| {
                let start = row as usize * truth.width as usize + x as usize;
                &truth.ids[start..start + width as usize]
            })
            .map(|&id| if id == self.object.instance { u8::MAX } else { 0 })
            .collect();
        Mask::new(self.bounds, data)
    }
}

/// The things with enough visible pixels, the largest first.
fn visible(truth: &TruthFrame, pixels_min: usize) -> Vec<Seen<'_>> {
    struct Extent {
        left: u32,
        top: u32,
        right: u32,
        bottom: u32,
        pixels: usize,
    }
    let mut extents: std::collections::HashMap<u16, Extent> = std::collections::HashMap::new();
    for (index, &id) in truth.ids.iter().enumerate().filter(|&(_, &id)| id != 0) {
        let (x, y) = (index as u32 % truth.width, index as u32 / truth.width);
        let extent = extents.entry(id).or_insert(Extent { left: x, top: y, right: x, bottom: y, pixels: 0 });
        extent.left = extent.left.min(x);
        extent.right = extent.right.max(x);
        extent.bottom = y;
        extent.pixels += 1;
    }
    let mut seen: Vec<Seen<'_>> = truth
        .objects
        .iter()
        .filter_map(|object| {
            let extent = extents.get(&object.instance).filter(|extent| extent.pixels >= pixels_min)?;
            let bounds = PixelBox {
                x: extent.left,
                y: extent.top,
                width: extent.right - extent.left + 1,
                height: extent.bottom - extent.top + 1,
            };
            Some(Seen { object, bounds, pixels: extent.pixels })
        })
        .collect();
    seen.sort_by(|a, b| b.pixels.cmp(&a.pixels).then_with(|| a.object.name.cmp(&b.object.name)));
    seen
}

#[cfg(test)]
mod tests;
