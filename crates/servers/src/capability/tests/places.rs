use super::*;

#[tokio::test]
async fn a_place_is_taught_by_standing_there_and_driven_to_by_any_spelling() {
    let rig = rig();
    rig.robot.put(PlanarPose::new(1.0, -0.5, std::f64::consts::FRAC_PI_2));
    let saved = rig.call("save_waypoint", json!({"name": " Kitchen  Table"})).await;
    assert_eq!(saved, json!({"ok": true, "name": "Kitchen Table", "x": 1.0, "y": -0.5, "yaw_deg": 90.0}));
    rig.robot.put(PlanarPose::default());
    let driven = rig.call("navigate_to_named", json!({"name": "KITCHEN table"})).await;
    assert_eq!(driven, saved);
    let goal = PlanarPose::new(1.0, -0.5, 90_f64.to_radians());
    assert_eq!(rig.robot.runs()[0].motion, cerebellum_core::Motion::Navigate { goal });
}

#[tokio::test]
async fn an_unknown_place_is_a_no_with_what_is_known() {
    let rig = rig();
    rig.call("save_waypoint", json!({"name": "sofa"})).await;
    let answer = rig.no("navigate_to_named", json!({"name": "sofaa"}), "unknown_place").await;
    assert_eq!((&answer["known"], &answer["name"]), (&json!(["sofa"]), &json!("sofaa")));
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn a_place_of_another_map_is_refused_and_never_driven_to() {
    let rig = rig();
    rig.call("save_waypoint", json!({"name": "sofa"})).await;
    rig.robot.edit_map(|map| map.id = "upstairs".to_owned());
    let answer = rig.no("navigate_to_named", json!({"name": "sofa"}), "other_map").await;
    let message = answer["error"]["message"].as_str().unwrap();
    assert!(message.contains("flat") && message.contains("upstairs"), "{message}");
    assert_eq!(rig.robot.runs(), []);
    let listed = rig.call("list_waypoints", json!({})).await;
    assert_eq!(listed, json!({"ok": true, "waypoints": {}, "map_id": "upstairs", "other_maps": ["sofa"]}));
    let unknown = rig.no("navigate_to_named", json!({"name": "shelf"}), "unknown_place").await;
    assert_eq!(unknown["known"], json!([]));
    assert_eq!(rig.call("save_waypoint", json!({"name": "sofa"})).await["replaced"], true);
    assert_eq!(rig.call("navigate_to_named", json!({"name": "sofa"})).await["ok"], true);
}

#[tokio::test]
async fn a_place_is_not_saved_before_the_robot_knows_where_it_is() {
    let rig = rig();
    rig.robot.edit(|state| state.frame = "odom".to_owned());
    rig.no("save_waypoint", json!({"name": "sofa"}), "not_localised").await;
    assert_eq!(rig.call("get_pose", json!({})).await["frame"], "odom");
}

#[tokio::test]
async fn names_that_are_none_are_refused() {
    let rig = rig();
    for name in ["", "  ", "a\u{0}b"] {
        rig.no("save_waypoint", json!({"name": name}), "bad_arguments").await;
    }
}

#[tokio::test]
async fn the_newest_goal_is_saved_with_its_age() {
    let rig = rig();
    rig.no("save_waypoint_from_goal", json!({"name": "desk"}), "no_goal").await;
    rig.robot.mark(PlanarPose::new(0.5, 0.0, 0.0), Stamp::from_secs_f64(NOW));
    rig.clock.advance(Duration::from_secs(3));
    let answer = rig.call("save_waypoint_from_goal", json!({"name": "desk"})).await;
    assert_eq!(answer, json!({"ok": true, "name": "desk", "x": 0.5, "y": 0.0, "yaw_deg": 0.0, "age_s": 3.0}));
    rig.call("set_goal", json!({"x": -1, "y": 0.25, "yaw_deg": -90})).await;
    assert_eq!(rig.robot.runs(), [], "marking a goal drives nowhere");
    rig.clock.advance(Duration::from_secs(1));
    let answer = rig.call("save_waypoint_from_goal", json!({"name": "desk"})).await;
    assert_eq!((&answer["x"], &answer["age_s"], &answer["replaced"]), (&json!(-1.0), &json!(1.0), &json!(true)));
    rig.robot.mark(PlanarPose::new(1.5, 0.0, 0.0), Stamp::from_secs_f64(NOW + 3.5));
    assert_eq!(rig.call("save_waypoint_from_goal", json!({"name": "desk"})).await["x"], 1.5);
}

#[tokio::test]
async fn a_damaged_file_is_said_in_a_warning() {
    let rig = rig();
    rig.call("save_waypoint", json!({"name": "sofa"})).await;
    let file = rig.folder.path().join("waypoints.json");
    let whole = std::fs::read(&file).unwrap();
    std::fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let answer = rig.call("list_waypoints", json!({})).await;
    assert_eq!(answer["waypoints"]["sofa"]["name"], "sofa");
    assert!(answer["warnings"][0].as_str().unwrap().contains("damaged"), "{answer}");
}

#[tokio::test]
async fn many_places_still_make_a_short_answer() {
    let rig = rig();
    let places = (0..400).map(|index| json!({"name": format!("place {index:03} {}", "x".repeat(40)), "x": 1.0, "y": 2.0, "yaw_deg": 3.0, "map_id": "flat"}));
    let content = json!({"waypoints": places.collect::<Vec<_>>()});
    std::fs::write(rig.folder.path().join("waypoints.json"), content.to_string()).unwrap();
    let answer = rig.call("list_waypoints", json!({})).await;
    let told = answer["waypoints"].as_object().unwrap().len() as u64;
    assert_eq!(told + answer["omitted"].as_u64().unwrap(), 400);
    rig.no("navigate_to_named", json!({"name": "nowhere"}), "unknown_place").await;
}
