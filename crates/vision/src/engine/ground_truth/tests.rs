use std::collections::HashMap;

use cerebellum_core::{RgbImage, Stamp};
use glam::DVec3;

use super::*;

/// A picture of 20x10: a can on the left, a person on the right, and a speck of 2 pixels.
struct Scene(HashMap<u64, Arc<TruthFrame>>);

impl Scene {
    fn new() -> Arc<Self> {
        let object = |instance, name: &str, label: &str, is_person| TruthObject {
            instance,
            name: name.into(),
            label: label.into(),
            is_person,
            is_graspable: !is_person,
            centre: DVec3::new(f64::from(instance), 0.0, 0.5),
        };
        let mut ids = vec![0_u16; 200];
        for row in 2..8 {
            ids[row * 20 + 1..row * 20 + 6].fill(1);
            ids[row * 20 + 10..row * 20 + 20].fill(2);
        }
        ids[2 * 20 + 1] = 0;
        ids[0..2].fill(3);
        let objects = vec![
            object(1, "coke", "red can", false),
            object(2, "visitor", "woman in blue", true),
            object(3, "pea", "green pea", false),
        ];
        let truth = TruthFrame { width: 20, height: 10, ids, objects };
        Arc::new(Self(HashMap::from([(7, Arc::new(truth))])))
    }
}

impl GroundTruth for Scene {
    fn truth_of(&self, seq: u64) -> Option<Arc<TruthFrame>> {
        self.0.get(&seq).cloned()
    }
}

fn frame(seq: u64, width: u32, height: u32) -> Arc<Frame> {
    let data = vec![0; (width * height * 3) as usize];
    Arc::new(Frame {
        stamp: Stamp::from_nanos(1),
        seq,
        frame_id: "camera".into(),
        rgb: Arc::new(RgbImage { width, height, data }),
        depth: None,
        intrinsics: None,
        map_from_camera: None,
    })
}

fn skill(mode: SkillMode, grounding: Option<&str>, outputs: &[(OutputType, &str)]) -> Skill {
    let outputs = outputs.iter().enumerate().map(|(index, (output_type, description))| OutputSpec {
        name: format!("o{index}").parse().unwrap(),
        output_type: *output_type,
        description: (*description).to_owned(),
    });
    Skill {
        name: "test".parse().unwrap(),
        mode,
        grounding: grounding.map(str::to_owned),
        segment: true,
        once: false,
        rate_hz: None,
        outputs: outputs.collect(),
        watch: None,
    }
}

async fn look(skill: &Skill) -> Look {
    Engine::with_pixels_min(Scene::new(), 5).prepare(skill).looker.look(frame(7, 20, 10)).await.unwrap()
}

#[tokio::test]
async fn a_thing_is_found_by_label_by_name_and_never_by_a_word_it_does_not_have() {
    for (phrase, expected) in [
        ("the red can", 1),
        ("can", 1),
        ("the coke", 1),
        ("red cans", 1),
        ("a person", 1),
        ("the blue can", 0),
        ("the green pea", 0),
        ("xyzzy", 0),
    ] {
        let look = look(&skill(SkillMode::GroundAndSegment, Some(phrase), &[])).await;
        assert_eq!(look.detections.len(), expected, "{phrase}");
    }
}

#[tokio::test]
async fn a_found_thing_has_its_visible_pixels_and_the_asked_words() {
    let look = look(&skill(SkillMode::GroundAndSegment, Some("the red can"), &[])).await;
    let found = &look.detections[0];
    assert_eq!(found.detection.label, "red can");
    assert_eq!(found.detection.bounds, PixelBox { x: 1, y: 2, width: 5, height: 6 });
    let mask = found.mask.as_ref().unwrap();
    assert!(mask.pixels() == 29 && !mask.contains(1, 2) && mask.contains(2, 2));
    assert_eq!(found.detection.point.as_ref().unwrap().position.x, 1.0);
}

#[tokio::test]
async fn describe_gives_boxes_without_masks_the_largest_first() {
    let look = look(&skill(SkillMode::Describe, None, &[])).await;
    let labels: Vec<&str> = look.detections.iter().map(|found| found.detection.label.as_str()).collect();
    assert_eq!(labels, ["woman in blue", "red can"]);
    assert!(look.detections.iter().all(|found| found.mask.is_none() && !found.detection.has_mask));
}

#[tokio::test]
async fn outputs_are_judged_by_their_words() {
    let outputs = [
        (OutputType::Boolean, "whether the red can is visible"),
        (OutputType::Boolean, "whether: a person is in view"),
        (OutputType::Boolean, "no person in view"),
        (OutputType::Boolean, "the blue box is gone"),
        (OutputType::Number, "how many cans are visible"),
        (OutputType::Number, "number of objects"),
        (OutputType::List, "main objects, up to 10"),
        (OutputType::Text, "detailed description of the scene"),
    ];
    let look = look(&skill(SkillMode::Describe, None, &outputs)).await;
    let values: Vec<OutputValue> = look.outputs.into_iter().map(|(_, value)| value).collect();
    assert_eq!(values[..4], [true, true, false, true].map(OutputValue::Boolean));
    assert_eq!(values[4..6], [1.0, 2.0].map(OutputValue::Number));
    assert_eq!(values[6], OutputValue::List(["woman in blue", "red can"].map(|name| Scalar::Text(name.into())).into()));
    assert_eq!(values[7], OutputValue::Text("In view: woman in blue, red can.".into()));
}

#[test]
fn what_it_cannot_judge_is_said_with_what_it_can() {
    let skill = skill(SkillMode::Describe, None, &[(OutputType::Boolean, "whether the mood is good")]);
    let unjudged = Engine::new(Scene::new()).prepare(&skill).unjudged;
    assert!(unjudged[0].reason.contains("mood") && unjudged[0].reason.contains("is visible"), "{}", unjudged[0].reason);
}

#[tokio::test]
async fn it_never_answers_for_a_picture_it_does_not_know() {
    let engine = Engine::new(Scene::new());
    let mut looker = engine.prepare(&skill(SkillMode::SegmentAll, None, &[])).looker;
    assert!(matches!(looker.look(frame(8, 20, 10)).await, Err(EngineError::Missing { .. })));
    assert!(matches!(looker.look(frame(7, 10, 10)).await, Err(EngineError::Failed { .. })));
    let mut region = engine.prepare(&skill(SkillMode::Region, Some("the can"), &[])).looker;
    assert!(matches!(region.look(frame(7, 20, 10)).await, Err(EngineError::Failed { .. })));
}
