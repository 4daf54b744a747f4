//! The engine `geometry` on pictures of the simulated home.

use std::sync::Arc;

use cerebellum_core::{Look, OutputValue, Scalar, VisionEngine};
use cerebellum_sim::Scene;
use cerebellum_sim::world::{TICKS_PER_SECOND, World};
use cerebellum_vision::engine::geometry::{Engine, Things};

#[path = "home/view.rs"]
mod view;

use view::View;

fn engine() -> Engine {
    Engine::new(Things::parse(include_str!("../../../config/vision/things.yaml")).expect("the shipped file is right"))
}

fn home_at(waypoint: &str) -> World {
    let mut world = World::new(&Arc::new(Scene::home()));
    world.set_base_to(waypoint).expect("the home has that waypoint");
    world
}

async fn look(skill: &str, view: &View) -> Look {
    let skill = cerebellum_wire::skill::from_str(skill).expect("the skill is right");
    engine().prepare(&skill).looker.look(Arc::clone(&view.frame)).await.expect("the view has depth")
}

fn find_object(query: &str) -> String {
    format!(
        r#"{{"name": "find_object", "mode": "ground_and_segment", "grounding": "the {query}", "segment": true,
            "outputs": [{{"name": "found", "type": "boolean", "description": "whether the {query} is visible"}}]}}"#
    )
}

/// The labels of all that is seen, for the message of a failed test.
async fn everything(view: &View) -> Vec<String> {
    let look = look(r#"{"name": "all", "mode": "segment_all", "segment": true}"#, view).await;
    look.detections.iter().map(|found| format!("{} {:?}", found.detection.label, found.detection.bounds)).collect()
}

/// Finds a thing by words and checks that what was found first is that thing, at its place.
async fn check(view: &View, name: &str, query: &str) {
    let look = look(&find_object(query), view).await;
    let object = view.truth.objects.iter().find(|object| object.name == name).expect("the home has that object");
    let seen: Vec<_> = look.detections.iter().map(|found| (&found.detection.label, found.detection.bounds)).collect();
    let hit = look.detections.iter().find(|found| {
        let mask = found.mask.as_ref().expect("the skill asks for masks");
        let pixels = mask.pixels();
        let ids = view.truth.ids.iter().enumerate();
        let shared =
            ids.filter(|(at, id)| **id == object.instance && mask.contains((at % 640) as u32, (at / 640) as u32));
        shared.count() * 2 > pixels
    });
    let Some(hit) = hit else {
        let all = everything(view).await;
        panic!("{name} is not found by {query:?}, only {seen:?} of {all:?}");
    };
    assert_eq!(hit.detection.label, query);
    let point = hit.detection.point.as_ref().expect("depth gives a point");
    assert_eq!(point.frame, "map");
    let off = point.position.distance(object.centre);
    assert!(off < 0.05, "{query}: {} for {}, {off} m off", point.position, object.centre);
    assert_eq!(look.outputs[0].1, OutputValue::Boolean(true), "{query}");
}

macro_rules! found_by {
    ($($test:ident: $waypoint:literal, $name:literal, [$($query:literal),+];)+) => {
        $(#[tokio::test]
        async fn $test() {
            let view = view::head(&home_at($waypoint), 640, 1);
            $(check(&view, $name, $query).await;)+
        })+
    };
}

found_by! {
    the_coke_is_found: "kitchen table", "coke", ["red can", "coke", "cola", "can of coke"];
    the_orange_is_found: "kitchen table", "orange", ["orange", "orange ball"];
    the_blue_box_is_found: "kitchen table", "blue_box", ["blue box", "blue cube"];
    the_mug_is_found: "kitchen table", "mug", ["white mug", "white cup"];
    the_tuna_is_found: "kitchen table", "tuna", ["turquoise tin", "turquoise can", "tuna"];
    the_green_cube_is_found: "kitchen table", "green_cube", ["green cube", "green box"];
    the_lemon_is_found: "kitchen table", "lemon", ["lemon", "yellow lemon"];
    the_apple_is_found: "kitchen table", "apple", ["green apple", "green ball", "apple"];
    the_book_is_found: "kitchen table", "book", ["purple book"];
    the_cup_is_found: "kitchen table", "cup", ["pink cup"];
    the_bottle_is_found: "kitchen table", "bottle", ["green bottle"];
    the_milk_is_found: "kitchen table", "milk", ["white carton", "milk"];
    the_cereal_is_found: "kitchen table", "cereal", ["yellow box", "cereal"];
    the_teapot_tin_is_found: "shelf", "teapot_tin", ["brown can"];
    the_notebook_is_found: "shelf", "notebook", ["blue book"];
}

#[tokio::test]
async fn an_unknown_noun_finds_nothing() {
    let view = view::head(&home_at("kitchen table"), 640, 1);
    for query in ["scissors", "red scissors", "can opener", "blue coke", "box behind the apple"] {
        assert_eq!(look(&find_object(query), &view).await.detections.len(), 0, "{query}");
    }
    assert!(look(&find_object("red scissors"), &view).await.outputs.is_empty());
}

#[tokio::test]
async fn the_small_live_picture_is_enough_for_the_coke() {
    let view = view::head(&home_at("kitchen table"), 320, 1);
    let look = look(&find_object("red can"), &view).await;
    assert_eq!(look.detections.len(), 1);
    let coke = view.truth.objects.iter().find(|object| object.name == "coke").unwrap();
    assert!(look.detections[0].detection.point.as_ref().unwrap().position.distance(coke.centre) < 0.04);
}

#[tokio::test]
async fn a_person_is_seen_when_they_have_come_in() {
    let watch = r#"{"name": "watch_for", "mode": "describe",
        "outputs": [{"name": "triggered", "type": "boolean", "description": "whether: a person is in view"}]}"#;
    let mut world = home_at("kitchen table");
    let before = look(watch, &view::head(&world, 320, 1)).await;
    assert_eq!(before.outputs[0].1, OutputValue::Boolean(false));
    world.person_enters().unwrap();
    world.advance_to(40 * TICKS_PER_SECOND);
    let after = look(watch, &view::head(&world, 320, 2)).await;
    assert_eq!(after.outputs[0].1, OutputValue::Boolean(true));
    assert!(after.detections.iter().any(|found| found.detection.label == "person" && found.mask.is_none()));
}

#[tokio::test]
async fn a_thing_keeps_its_id_from_picture_to_picture() {
    let world = home_at("kitchen table");
    let skill = cerebellum_wire::skill::from_str(r#"{"name": "all", "mode": "segment_all", "segment": true}"#).unwrap();
    let mut looker = engine().prepare(&skill).looker;
    let mut ids = Vec::new();
    for seq in 1..4 {
        let look = looker.look(view::head(&world, 640, seq).frame).await.unwrap();
        let coke = look.detections.iter().find(|found| found.detection.label == "red can").unwrap();
        ids.push(coke.detection.id.clone().unwrap());
    }
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[tokio::test]
async fn free_space_is_found_on_the_empty_table() {
    let skill = r#"{"name": "free_space", "mode": "region", "grounding": "free flat space large enough for the mug",
        "segment": true}"#;
    let look = look(skill, &view::head(&home_at("other table"), 640, 1)).await;
    let best = &look.detections[0];
    assert_eq!(best.detection.label, "free space");
    let place = best.detection.point.as_ref().unwrap().position;
    assert!((place.z - 0.5).abs() < 0.01 && (place.x + 2.3).abs() < 0.35 && (place.y - 0.95).abs() < 0.55, "{place}");
    assert!(best.mask.as_ref().unwrap().pixels() > 1_000);
    assert!(look.detections.len() <= 8);
    for (at, found) in look.detections.iter().enumerate() {
        let place = found.detection.point.as_ref().unwrap().position;
        let others = look.detections[..at].iter().map(|other| other.detection.point.as_ref().unwrap().position);
        assert!(others.into_iter().all(|other| other.distance(place) > 0.08), "{place} twice");
    }
}

#[tokio::test]
async fn the_scene_is_described() {
    let skill = r#"{"name": "describe_scene", "mode": "describe", "outputs": [
        {"name": "scene_description", "type": "text", "description": "detailed description of the scene"},
        {"name": "scene_objects", "type": "list", "description": "main objects, up to 10"}]}"#;
    let look = look(skill, &view::head(&home_at("kitchen table"), 640, 1)).await;
    let OutputValue::Text(text) = &look.outputs[0].1 else { panic!() };
    assert!(text.contains("red can") && text.contains("on the table"), "{text}");
    let OutputValue::List(list) = &look.outputs[1].1 else { panic!() };
    assert!(list.len() <= 10 && list.contains(&Scalar::Text("blue box".into())), "{list:?}");
}
