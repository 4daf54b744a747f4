use std::sync::Arc;

use cerebellum_core::{EngineError, Frame, Intrinsics, Prepared, RgbImage, Stamp, VisionEngine};

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
    for (query, word) in [("scissors", "scissors"), ("scissors on top", "scissors"), ("left one of the frobs", "frobs")]
    {
        let prepared = find_object(query);
        assert_eq!(prepared.unjudged.len(), 1, "{query}");
        let reason = &prepared.unjudged[0].reason;
        assert!(reason.contains(&format!("{word:?}")), "{reason}");
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
        assert!(!reason.contains("unsupported_condition") && reason.contains("in view|gone|near|on"), "{reason}");
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

#[test]
fn the_reason_begins_with_the_unknown_word() {
    let reason = output("boolean", "whether: a banana is in view").unjudged[0].reason.clone();
    let begin = "\"banana\" is not a thing this engine knows; it knows shapes, colours, a person and the words of things.yaml; ";
    assert!(reason.starts_with(begin), "{reason}");
    let reason = output("number", "number of bananas").unjudged[0].reason.clone();
    assert!(reason.starts_with("\"bananas\" is not a thing"), "{reason}");
}

#[test]
fn a_query_on_a_surface_with_a_name_is_looked_for_with_a_note() {
    let prepared = find_object("red can on the counter");
    assert!(prepared.unjudged.is_empty());
    assert_eq!(prepared.notes, ["cannot tell the counter from another surface"]);
    assert_eq!(output("boolean", "whether: the red can is on the counter").unjudged.len(), 1);
}

fn without_depth_values(value: u8) -> Arc<Frame> {
    Arc::new(Frame {
        stamp: Stamp::from_nanos(1),
        seq: 1,
        frame_id: "camera".into(),
        rgb: Arc::new(RgbImage::new(64, 48, vec![value; 64 * 48 * 3]).unwrap()),
        depth: DepthImage::new(64, 48, vec![0.0; 64 * 48]).map(Arc::new),
        intrinsics: Some(Intrinsics { width: 64, height: 48, fx: 50.0, fy: 50.0, cx: 32.0, cy: 24.0 }),
        map_from_camera: None,
    })
}

#[tokio::test]
async fn a_covered_camera_is_an_error_and_no_look() {
    for mut prepared in [find_object("red can"), output("boolean", "whether: the red can is gone")] {
        let Err(EngineError::Failed { reason }) = prepared.looker.look(without_depth_values(9)).await else { panic!() };
        assert!(reason.contains("the picture is black and no depth is measured"), "{reason}");
        let Err(EngineError::Failed { reason }) = prepared.looker.look(without_depth_values(150)).await else {
            panic!()
        };
        assert!(reason.contains("no depth anywhere"), "{reason}");
    }
}
