use std::sync::Arc;

use cerebellum_core::{EngineError, Frame, Intrinsics, OutputValue, Prepared, RgbImage, Stamp, VisionEngine};

use super::*;

fn engine() -> Engine {
    Engine::new(Things::parse(include_str!("../../../../../config/vision/things.yaml")).unwrap())
}

fn prepare(skill: &str) -> Prepared {
    engine().prepare(&cerebellum_wire::skill::from_str(skill).unwrap())
}

fn find_object(query: &str) -> Prepared {
    prepare(&format!(
        r#"{{"name": "find_object", "mode": "ground_and_segment", "grounding": "the {query}", "segment": true,
            "outputs": [{{"name": "found", "type": "boolean", "description": "whether the {query} is visible"}}]}}"#
    ))
}

fn output(kind: &str, description: &str) -> Prepared {
    prepare(&format!(
        r#"{{"name": "watch", "mode": "describe",
            "outputs": [{{"name": "value", "type": "{kind}", "description": "{description}"}}]}}"#
    ))
}

#[test]
fn a_query_of_unknown_words_gets_no_found_and_says_so() {
    for query in ["scissors", "scissors on top", "left one of the frobs"] {
        let prepared = find_object(query);
        assert_eq!(prepared.unjudged.len(), 1, "{query}");
        assert!(prepared.unjudged[0].reason.starts_with("unsupported_condition: "));
        assert!(prepared.notes.iter().any(|note| note.contains("not understood")), "{query}: {:?}", prepared.notes);
    }
    for query in ["red can", "coke", "shiny red can", "person", "red scissors", "something blue"] {
        assert!(find_object(query).unjudged.is_empty(), "{query}");
    }
}

#[test]
fn notes_name_unknown_words_and_the_owners() {
    assert_eq!(find_object("red can").notes, Vec::<String>::new());
    assert_eq!(find_object("shiny red can").notes, ["words not understood: shiny"]);
    assert_eq!(find_object("cola").notes, ["\"coke\" is taken from the list of things"]);
}

#[test]
fn what_can_be_judged_is_judged() {
    for (kind, description) in [
        ("boolean", "whether: a person is in view"),
        ("boolean", "whether: no person is in view"),
        ("boolean", "whether: 2+ cans are in view"),
        ("boolean", "whether: the red can is gone"),
        ("boolean", "whether: a person is near the red can"),
        ("boolean", "whether: a red can is on the table"),
        ("number", "number of red cans"),
        ("number", "how many people are in view"),
        ("number", "distance to the mug in metres"),
        ("text", "detailed description of the scene"),
        ("list", "main objects, up to 10"),
    ] {
        assert!(output(kind, description).unjudged.is_empty(), "{description}");
    }
}

#[test]
fn what_cannot_be_judged_is_said_with_what_can() {
    for (kind, description) in [
        ("boolean", "whether: the kettle is boiling"),
        ("boolean", "whether: a person is asleep"),
        ("boolean", "whether: Robin is in view"),
        ("boolean", "whether: a red can is on the kitchen table"),
        ("number", "temperature of the room"),
        ("number", "number of scissors"),
        ("text", "the mood of the person"),
        ("list", "names of the people and their ages"),
    ] {
        let unjudged = output(kind, description).unjudged;
        assert_eq!(unjudged.len(), 1, "{description}");
        let reason = &unjudged[0].reason;
        assert!(reason.starts_with("unsupported_condition: ") && reason.contains("in view|gone|near|on"), "{reason}");
    }
}

#[test]
fn the_asked_thing_says_how_much_room_it_needs() {
    let task = |grounding: &str| {
        let mut notes = Vec::new();
        let Task::Room { radius, on_floor } = engine().region_task(grounding, &mut notes) else { panic!() };
        (((radius - MARGIN_M) * 200.0).round() as i32, on_floor, notes.len())
    };
    assert_eq!(task("free flat space large enough for the red can"), (8, false, 0));
    assert_eq!(task("free flat space large enough for the plate"), (20, false, 2));
    assert_eq!(task("free space 30 cm wide on the floor"), (30, true, 0));
    assert_eq!(task("free flat space large enough for the salad bowl"), (26, false, 1));
}

#[tokio::test]
async fn a_frame_without_depth_is_an_error_that_names_it() {
    let frame = Frame {
        stamp: Stamp::from_nanos(1),
        seq: 1,
        frame_id: "webcam".into(),
        rgb: Arc::new(RgbImage::new(64, 48, vec![0; 64 * 48 * 3]).unwrap()),
        depth: None,
        intrinsics: Some(Intrinsics { width: 64, height: 48, fx: 50.0, fy: 50.0, cx: 32.0, cy: 24.0 }),
        map_from_camera: None,
    };
    let mut looker = find_object("red can").looker;
    assert_eq!(looker.look(Arc::new(frame)).await, Err(EngineError::Missing { what: "depth".into() }));
}

#[tokio::test]
async fn a_picture_of_nothing_has_no_detections_and_found_is_false() {
    let frame = Frame {
        stamp: Stamp::from_nanos(1),
        seq: 1,
        frame_id: "camera".into(),
        rgb: Arc::new(RgbImage::new(64, 48, vec![0; 64 * 48 * 3]).unwrap()),
        depth: DepthImage::new(64, 48, vec![0.0; 64 * 48]).map(Arc::new),
        intrinsics: Some(Intrinsics { width: 64, height: 48, fx: 50.0, fy: 50.0, cx: 32.0, cy: 24.0 }),
        map_from_camera: None,
    };
    let look = find_object("red can").looker.look(Arc::new(frame)).await.unwrap();
    assert!(look.detections.is_empty());
    assert_eq!(look.outputs[0].1, OutputValue::Boolean(false));
}
