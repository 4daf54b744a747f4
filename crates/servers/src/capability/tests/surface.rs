use super::*;

fn names(server: &Server) -> Vec<&'static str> {
    server.tools().iter().map(|spec| spec.name).collect()
}

#[test]
fn a_robot_with_every_part_has_every_tool() {
    assert_eq!(names(&rig().server).len(), 22);
}

#[test]
fn a_tool_exists_only_if_its_part_does() {
    let check = |change: fn(&mut Parts), gone: &[&str]| {
        let left = names(&rig_with(change, |_| {}).server);
        for tool in gone {
            assert!(!left.contains(tool), "{tool}");
        }
        assert_eq!(left.len(), 22 - gone.len(), "{gone:?}");
    };
    check(|parts| parts.holonomic = false, &["strafe_by"]);
    check(|parts| parts.navigation = false, &["navigate_to", "navigate_to_named", "go_to_stance"]);
    check(|parts| parts.without.push("navigate_to".into()), &["navigate_to", "navigate_to_named"]);
    check(
        |parts| parts.arms.clear(),
        &["pick", "place", "reach", "fine_approach", "go_to_stance", "allow_gripper_touch"],
    );
    check(|parts| parts.map = false, &["get_map"]);
    check(|parts| parts.postures.clear(), &["goto_named"]);
    check(|parts| parts.obstacle_memory = false, &["clear_octomap"]);
}

#[test]
fn a_read_only_server_keeps_what_changes_nothing_and_stop() {
    let rig = rig_with(|_| {}, |config| config.read_only = true);
    assert_eq!(names(&rig.server), ["list_waypoints", "get_pose", "get_state", "robot_state", "get_map", "stop"]);
}

#[tokio::test]
async fn only_allowed_tools_and_stop_are_offered_and_run() {
    let rig = rig_with(|_| {}, |config| config.allow = vec!["turn_by".into(), "get_pose".into()]);
    assert_eq!(names(&rig.server), ["get_pose", "turn_by", "stop"]);
    let outcome = rig.server.call("navigate_to", Map::new(), &context()).await;
    assert_eq!(outcome.data()["error"]["code"], "unknown_tool");
    assert_eq!(rig.robot.runs(), []);
}

#[test]
fn allowing_a_tool_that_does_not_exist_is_a_mistake_that_is_named() {
    let rig = rig();
    let refused = server(&rig.clock, &rig.robot, &rig.lease, rig.folder.path(), |config| {
        config.allow = vec!["fly".into()];
    });
    let Err(error) = refused else { panic!("it was taken") };
    assert!(error.to_string().contains("\"fly\""), "{error}");
}

#[tokio::test]
async fn numbers_are_refused_by_the_name_of_their_limit() {
    let rig = rig();
    let cases = [
        ("drive_by", json!({"distance_m": 2.1}), "refused", "max_drive_m"),
        ("drive_by", json!({"distance_m": -2.1}), "refused", "max_drive_m"),
        ("drive_by", json!({"distance_m": "NaN"}), "bad_arguments", "max_drive_m"),
        ("drive_by", json!({"distance_m": "1.0"}), "bad_arguments", "max_drive_m"),
        ("strafe_by", json!({"distance_m": "inf"}), "bad_arguments", "max_drive_m"),
        ("strafe_by", json!({"distance_m": 1e300}), "refused", "max_drive_m"),
        ("turn_by", json!({"degrees": 180.5}), "refused", "max_turn_deg"),
        ("turn_by", json!({"degrees": {"a": 1}}), "bad_arguments", "max_turn_deg"),
        ("navigate_to", json!({"x": 1e9, "y": 0, "yaw_deg": 0}), "refused", "max_coordinate_m"),
        ("navigate_to", json!({"x": 0, "y": "Infinity", "yaw_deg": 0}), "bad_arguments", "max_coordinate_m"),
        ("navigate_to", json!({"x": 0, "y": 0, "yaw_deg": 400}), "refused", "max_heading_deg"),
        ("set_goal", json!({"x": 0, "y": 0, "yaw_deg": "east"}), "bad_arguments", "max_heading_deg"),
        ("reach", json!({"x": 0, "y": 0, "z": "NaN"}), "bad_arguments", "max_coordinate_m"),
        ("go_to_stance", json!({"target": {"x": 1e7, "y": 0, "z": 0}}), "refused", "max_coordinate_m"),
        ("pick", json!({"grasp": {"x": 0, "y": 0, "z": "NaN", "width_m": 0.06}}), "bad_arguments", "max_coordinate_m"),
        ("pick", json!({"grasp": {"x": 0, "y": 0, "z": 0.7, "width_m": -0.06}}), "refused", "max_width_m"),
        ("place", json!({"pose": {"x": 0, "y": -1e12, "z": 0.7}}), "refused", "max_coordinate_m"),
    ];
    for (tool, given, code, limit) in cases {
        let answer = rig.no(tool, given, code).await;
        assert_eq!(answer["limit"], limit, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(limit), "{answer}");
    }
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn the_limits_are_those_that_the_robot_has_now() {
    let rig = rig();
    assert_eq!(rig.call("turn_by", json!({"degrees": 180})).await["ok"], true);
    rig.robot.edit_limits(|limits| {
        limits.max_turn = 0.5;
        limits.workspace = Some([[-1.0, -1.0], [1.0, 1.0]]);
    });
    assert_eq!(rig.no("turn_by", json!({"degrees": 180}), "refused").await["limit"], "max_turn_deg");
    let outside = rig.no("navigate_to", json!({"x": 1.5, "y": 0, "yaw_deg": 0}), "refused").await;
    assert_eq!(outside["limit"], "workspace");
}

#[tokio::test]
async fn unknown_sides_groups_states_and_frames_are_answered_with_what_there_is() {
    let rig = rig_with(|parts| parts.arms = vec![Side::Left], |_| {});
    let reach = |side: &str, frame: &str| json!({"x": 1, "y": 0, "z": 1, "side": side, "frame": frame});
    assert_eq!(rig.no("reach", reach("right", "map"), "bad_arguments").await["known"], json!(["left"]));
    assert_eq!(rig.no("reach", reach("left", "moon"), "bad_arguments").await["known"], json!(["map", "base_link"]));
    let unknown = rig.no("goto_named", json!({"group": "tail", "state": "up"}), "unknown_group").await;
    assert_eq!(unknown["known"], json!(["left_arm", "right_arm", "left_gripper", "right_gripper"]));
    let unknown = rig.no("goto_named", json!({"group": "Left_Gripper", "state": "up"}), "unknown_state").await;
    assert_eq!(unknown["known"], json!(["open", "closed"]));
    assert_eq!(rig.robot.runs(), []);
}

#[tokio::test]
async fn points_of_the_base_are_transformed() {
    let rig = rig();
    rig.robot.put(PlanarPose::new(1.0, 2.0, std::f64::consts::FRAC_PI_2));
    let answer = rig.call("reach", json!({"x": 0.5, "y": 0, "z": 1, "frame": "base_link"})).await;
    assert_eq!(answer, json!({"ok": true, "side": "left", "x": 1.0, "y": 2.5, "z": 1.0}));
}

#[tokio::test]
async fn a_target_may_come_as_json_text() {
    let rig = rig();
    let target = json!({"x": 2.0, "y": 1.0, "z": 0.7, "found": true}).to_string();
    assert_eq!(rig.call("go_to_stance", json!({"target": target})).await["x"], 1.4);
}

#[tokio::test]
async fn the_prompt_is_the_owners_text_and_what_the_robot_reports() {
    let rig = rig();
    let prompt = rig.server.read_resource("prompt://system").await.unwrap();
    for part in ["```plan-template", "Testy", "A fake robot with two arms.", "one drive_by or strafe_by 2 m", "turn_by"]
    {
        assert!(prompt.contains(part), "{part} is not in {prompt}");
    }
    let file = rig.folder.path().join("prompt.md");
    std::fs::write(&file, "Be kind.").unwrap();
    let rig2 = rig_with(|_| {}, |config| config.prompt = Some(file.clone()));
    rig2.call("save_waypoint", json!({"name": "Sofa"})).await;
    let prompt = rig2.server.read_resource("prompt://system").await.unwrap();
    assert!(prompt.starts_with("Be kind.") && prompt.contains("Saved places: Sofa."), "{prompt}");
    std::fs::write(&file, "Be quick.").unwrap();
    assert!(rig2.server.read_resource("prompt://system").await.unwrap().starts_with("Be quick."));
    assert_eq!(rig2.server.read_resource("prompt://other").await, None);
    std::fs::remove_file(&file).unwrap();
    std::fs::create_dir(&file).unwrap();
    assert!(rig2.server.read_resource("prompt://system").await.unwrap().starts_with("# This robot"));
}

#[tokio::test]
async fn answers_keep_the_contract() {
    let rig = rig();
    rig.call("save_waypoint", json!({"name": "sofa"})).await;
    let cases = [
        ("navigate_to_named", json!({"name": "sofa"})),
        ("navigate_to", json!({"x": 0.5, "y": 0, "yaw_deg": 0})),
        ("list_waypoints", json!({})),
        ("save_waypoint", json!({"name": "sofa"})),
        ("set_goal", json!({"x": 0.5, "y": 0, "yaw_deg": 0})),
        ("save_waypoint_from_goal", json!({"name": "goal"})),
        ("get_pose", json!({})),
        ("get_state", json!({})),
        ("robot_state", json!({})),
        ("pick", json!({"grasp": {"x": 1, "y": 0, "z": 0.7, "width_m": 0.06}, "side": "left"})),
        ("place", json!({"pose": {"x": 1, "y": 0, "z": 0.7}, "side": "left"})),
        ("go_to_stance", json!({"target": {"x": 1, "y": 0, "z": 0.7}})),
        ("reach", json!({"x": 1, "y": 0, "z": 0.7})),
        ("fine_approach", json!({"target": {"x": 1, "y": 0, "z": 0.7}})),
        ("turn_by", json!({"degrees": 30})),
        ("drive_by", json!({"distance_m": 0.2})),
        ("strafe_by", json!({"distance_m": 0.2})),
        ("goto_named", json!({"group": "left_arm", "state": "carry"})),
        ("clear_octomap", json!({})),
        ("allow_gripper_touch", json!({"target": "drawer"})),
        ("stop", json!({})),
    ];
    for (tool, given) in &cases {
        let answer = rig.call(tool, given.clone()).await;
        assert_eq!(answer["ok"], true, "{tool}: {answer}");
        let row = cerebellum_wire::contract::tool(tool).unwrap();
        assert_eq!(row.faults(answer.as_object().unwrap(), false), Vec::<String>::new(), "{tool}: {answer}");
    }
    let outcome = rig.server.call("get_map", Map::new(), &context()).await;
    let row = cerebellum_wire::contract::tool("get_map").unwrap();
    assert_eq!(row.faults(outcome.data(), false), Vec::<String>::new());
    assert_eq!(cases.len() + 1, 22);
}
