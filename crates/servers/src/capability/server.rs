use async_trait::async_trait;
use cerebellum_mcp::{CallContext, Identity, Readiness, ResourceSpec, ToolServer};
use cerebellum_wire::tools::motion::{
    self as words, allow_gripper_touch, clear_octomap, drive_by, fine_approach, get_map, get_pose, get_state,
    go_to_stance, goto_named, list_waypoints, navigate_to, navigate_to_named, pick, place, reach, robot_state,
    save_waypoint, save_waypoint_from_goal, set_goal, stop, strafe_by, turn_by,
};
use cerebellum_wire::{ToolClass, ToolError, ToolOutcome, ToolSpec};
use serde_json::{Map, Value};

use super::call_log::{self, Admission};
use super::{Failure, Server, prompt};

impl Server {
    async fn answer(&self, tool: &str, given: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        let answered = match tool {
            navigate_to_named::NAME => self.navigate_to_named(given, context).await,
            navigate_to::NAME => self.navigate_to(given, context).await,
            list_waypoints::NAME => self.list_waypoints().await,
            save_waypoint::NAME => self.save_waypoint(given).await,
            save_waypoint_from_goal::NAME => self.save_waypoint_from_goal(given).await,
            set_goal::NAME => self.set_goal(given).await,
            get_pose::NAME => self.get_pose().await,
            get_state::NAME => self.get_state().await,
            robot_state::NAME => self.robot_state().await,
            get_map::NAME => self.get_map().await,
            pick::NAME => self.pick(given, context).await,
            place::NAME => self.place(given, context).await,
            go_to_stance::NAME => self.go_to_stance(given, context).await,
            reach::NAME => self.reach(given, context).await,
            fine_approach::NAME => self.fine_approach(given, context).await,
            turn_by::NAME => self.turn_by(given, context).await,
            drive_by::NAME => self.drive_by(given, context).await,
            strafe_by::NAME => self.strafe_by(given, context).await,
            goto_named::NAME => self.goto_named(given, context).await,
            clear_octomap::NAME => self.clear_octomap().await,
            allow_gripper_touch::NAME => self.allow_gripper_touch(given).await,
            stop::NAME => self.stop(&who(context)).await,
            other => Err(crate::unknown_tool(other, &self.specs).into()),
        };
        answered.unwrap_or_else(|Failure(outcome)| outcome)
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Motion", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        let Some(spec) = self.specs.iter().find(|spec| spec.name == tool) else {
            return ToolOutcome::failed(&crate::unknown_tool(tool, &self.specs), &());
        };
        // Looking again gives no harm, and stopping twice is what one wants.
        let key = context.caller.meta.get(call_log::CALL).filter(|_| spec.class != ToolClass::Read);
        let Some(key) = key.filter(|_| tool != stop::NAME) else { return self.answer(tool, arguments, context).await };
        let Some(key) = key.as_str() else {
            let message = format!("the key {} in _meta must be text", call_log::CALL);
            return ToolOutcome::failed(
                &ToolError::new("bad_arguments", message, "Use a short key of one's own for each call."),
                &(),
            );
        };
        match self.calls.admit(key, tool, &arguments).await {
            Ok(Admission::Run(running)) => {
                let outcome = self.answer(tool, arguments, context).await;
                running.ended(outcome).await
            }
            Ok(Admission::Known(outcome)) | Err(Failure(outcome)) => outcome,
        }
    }

    fn resources(&self) -> &[ResourceSpec] {
        prompt::RESOURCES
    }

    async fn read_resource(&self, uri: &str) -> Option<String> {
        if uri == prompt::URI { Some(self.prompt().await) } else { None }
    }

    async fn readiness(&self) -> Readiness {
        match self.drives.state().await {
            Ok(_) => Readiness::Ready,
            Err(error) => Readiness::NotReady(error.to_string()),
        }
    }
}

fn who(context: &CallContext) -> String {
    let named = context.caller.text(super::drive::HOLDER).unwrap_or(&context.caller.name);
    match super::plain(named) {
        name if name.is_empty() => "a caller of the stop tool".to_owned(),
        name => name,
    }
}
