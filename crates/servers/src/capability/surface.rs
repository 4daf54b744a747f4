use cerebellum_core::Parts;
use cerebellum_wire::tools::motion as words;
use cerebellum_wire::{ToolClass, ToolSpec};

use super::{Config, ConfigError};

/// The tools that this robot has and its owner allows.
pub(super) fn of(parts: &Parts, config: &Config) -> Result<Vec<ToolSpec>, ConfigError> {
    let all = words::specs();
    if let Some(unknown) = config.allow.iter().find(|name| !all.iter().any(|spec| spec.name == name.as_str())) {
        let known: Vec<&str> = all.iter().map(|spec| spec.name).collect();
        return Err(ConfigError::UnknownTool { name: unknown.clone(), known: known.join(", ") });
    }
    Ok(all.into_iter().filter(|spec| has(parts, spec.name) && allows(config, spec)).collect())
}

fn allows(config: &Config, spec: &ToolSpec) -> bool {
    if spec.name == words::stop::NAME {
        return true;
    }
    let is_listed = config.allow.is_empty() || config.allow.iter().any(|name| name == spec.name);
    is_listed && (!config.read_only || spec.class == ToolClass::Read)
}

fn has(parts: &Parts, tool: &str) -> bool {
    let without = |name: &str| parts.without.iter().any(|missing| missing == name);
    let has_part = match tool {
        "navigate_to_named" => parts.base && parts.navigation && !without("navigate_to"),
        "navigate_to" => parts.base && parts.navigation,
        "list_waypoints"
        | "save_waypoint"
        | "save_waypoint_from_goal"
        | "set_goal"
        | "get_pose"
        | "turn_by"
        | "drive_by" => parts.base,
        "strafe_by" => parts.base && parts.holonomic,
        "get_map" => parts.map,
        "go_to_stance" => parts.base && parts.navigation && !parts.arms.is_empty(),
        "pick" | "place" | "reach" | "fine_approach" | "allow_gripper_touch" => !parts.arms.is_empty(),
        "goto_named" => !parts.postures.is_empty(),
        "clear_octomap" => parts.obstacle_memory,
        _ => true,
    };
    has_part && !without(tool)
}
