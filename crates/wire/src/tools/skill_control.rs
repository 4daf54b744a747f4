use crate::tool::ToolSpec;

/// A skill of one's own.
pub mod instantiate_raw_skill;
/// A skill from a template.
pub mod instantiate_skill;
/// What runs.
pub mod list_running_skills;
/// What can be made to run.
pub mod list_skill_templates;
/// Pause and go on.
pub mod set_skill_enabled;
/// Stop.
pub mod stop_skill;

/// The server's name in MCP.
pub const SERVER: &str = "skill_control";

/// What the server is for, in words for a planner.
pub const INSTRUCTIONS: &str = "Configures what this robot perceives. A skill is a running configuration of the robot's \
vision: once it is instantiated it publishes what it finds on the topic that the answer names, until it is stopped. Begin \
with list_skill_templates, call instantiate_skill with a template and its params, and read the results with the perception \
server (get_latest with the skill_id, or what_do_you_see). No pictures pass through here. Stop a skill with stop_skill when \
the task no longer needs it: every running skill costs the robot work.";

/// All tools, in the order people should read them.
pub fn specs() -> Vec<ToolSpec> {
    vec![
        list_skill_templates::spec(),
        list_running_skills::spec(),
        instantiate_skill::spec(),
        instantiate_raw_skill::spec(),
        stop_skill::spec(),
        set_skill_enabled::spec(),
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn agent_surface() {
        insta::assert_json_snapshot!(
            crate::tools::skill_control::specs().iter().map(crate::tool::surface).collect::<Vec<_>>()
        );
    }

    #[test]
    fn every_llm_interface_takes_the_tools() {
        assert_eq!(crate::lint::server(&super::specs()), Vec::<String>::new());
    }
}
