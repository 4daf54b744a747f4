use crate::tool::ToolSpec;

/// Take a thing, whatever it takes.
pub mod grasp;

/// The server's name in MCP.
pub const SERVER: &str = "task";

/// What the server is for, in words for a planner.
pub const INSTRUCTIONS: &str = "Whole tasks that close their own loop. grasp looks for the thing, takes it, checks the grip \
and tries again from another stance or with the other arm; it answers when the gripper measures that it holds, or says \
honestly why not. Drive to where the thing is first.";

/// All tools.
pub fn specs() -> Vec<ToolSpec> {
    vec![grasp::spec()]
}

#[cfg(test)]
mod tests {
    #[test]
    fn agent_surface() {
        insta::assert_json_snapshot!(crate::tools::task::specs().iter().map(crate::tool::surface).collect::<Vec<_>>());
    }

    #[test]
    fn every_llm_interface_takes_the_tools() {
        assert_eq!(crate::lint::server(&super::specs()), Vec::<String>::new());
    }
}
