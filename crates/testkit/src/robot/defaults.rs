use cerebellum_core::{BaseState, FloorMap, HandState, Parts, PlanarPose, Region, RobotState, Side, Stamp, StopState};

/// Two arms, a holonomic base that finds its way, a map.
pub(super) fn parts() -> Parts {
    let grippers = ["left_gripper", "right_gripper"].map(|group| (group, ["open", "closed"].as_slice()));
    let arms = ["left_arm", "right_arm"].map(|group| (group, ["stowed", "carry"].as_slice()));
    let postures = arms.into_iter().chain(grippers);
    Parts {
        base: true,
        holonomic: true,
        navigation: true,
        map: true,
        arms: Side::BOTH.to_vec(),
        without: Vec::new(),
        postures: postures
            .map(|(group, states)| (group.to_owned(), states.iter().map(|&state| state.to_owned()).collect()))
            .collect(),
        obstacle_memory: true,
        description: "A fake robot with two arms.".to_owned(),
    }
}

pub(super) fn state(stamp: Stamp) -> RobotState {
    let hand = |side| HandState { side, holds: Some(false), opening_m: Some(0.08), posture: None, tip: None };
    RobotState {
        stamp,
        frame: "map".to_owned(),
        base: Some(BaseState { pose: PlanarPose::default(), velocity: [0.0, 0.0], turn_rate: 0.0, is_moving: false }),
        hands: Side::BOTH.map(hand).to_vec(),
        stop: StopState::default(),
        running: None,
        path: Vec::new(),
        map_version: 1,
        issue: None,
    }
}

/// Four by three metres, with one table.
pub(super) fn map() -> FloorMap {
    let table = vec![[1.0, 0.5], [2.0, 0.5], [2.0, 1.5], [1.0, 1.5]];
    FloorMap {
        id: "flat".to_owned(),
        frame: "map".to_owned(),
        resolution_m: 0.5,
        origin: PlanarPose::new(-2.0, -1.5, 0.0),
        width: 8,
        height: 6,
        cells: (0..48).map(|index| [0, 100, -1][index % 3]).collect(),
        rooms: Vec::new(),
        furniture: vec![Region { name: "Kitchen Table".to_owned(), outline: table, surface_height: Some(0.72) }],
        keep_outs: Vec::new(),
        version: 1,
    }
}
