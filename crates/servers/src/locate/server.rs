use async_trait::async_trait;
use cerebellum_mcp::{CallContext, Identity, Readiness, ResourceSpec, ToolServer};
use cerebellum_wire::tools::locate::{
    self as words, capture_scene, get_frame, grasp_from_pixel, grasp_pose, locate_3d, locate_surface, model_object,
    observe_task, pixel_to_3d, place_pose,
};
use cerebellum_wire::{ToolOutcome, ToolSpec, arguments};
use serde_json::{Map, Value};

use super::{Ended, Server, prompt};

impl Server {
    async fn answer(&self, tool: &str, given: Map<String, Value>, context: &CallContext) -> Result<ToolOutcome, Ended> {
        match tool {
            locate_3d::NAME => {
                let locate_3d::Arguments { query } = arguments::parse(given)?;
                self.locate_3d(&query, context).await
            }
            grasp_pose::NAME | model_object::NAME => self.grasp_pose(arguments::parse(given)?, context).await,
            place_pose::NAME | locate_surface::NAME => {
                let place_pose::Arguments { surface } = arguments::parse(given)?;
                self.place_pose(&surface, context).await
            }
            get_frame::NAME => self.get_frame().await,
            capture_scene::NAME => self.capture_scene(context).await,
            pixel_to_3d::NAME => self.pixel_to_3d(&arguments::parse(given)?).await,
            grasp_from_pixel::NAME => self.grasp_from_pixel(&arguments::parse(given)?, context).await,
            observe_task::NAME => {
                let observe_task::Arguments { context: words } = arguments::parse(given)?;
                self.observe_task(&words, context).await
            }
            _ => Err(crate::unknown_tool(tool, &self.specs).into()),
        }
    }
}

#[async_trait]
impl ToolServer for Server {
    fn identity(&self) -> Identity {
        Identity { name: words::SERVER, title: "Locate", instructions: words::INSTRUCTIONS.to_owned() }
    }

    fn tools(&self) -> &[ToolSpec] {
        &self.specs
    }

    async fn call(&self, tool: &str, arguments: Map<String, Value>, context: &CallContext) -> ToolOutcome {
        self.answer(tool, arguments, context).await.unwrap_or_else(|Ended(outcome)| outcome)
    }

    fn resources(&self) -> &[ResourceSpec] {
        prompt::RESOURCES
    }

    async fn read_resource(&self, uri: &str) -> Option<String> {
        if uri == prompt::URI { Some(self.prompt().await) } else { None }
    }

    async fn readiness(&self) -> Readiness {
        match self.eyes.newest().await {
            Ok(_) => Readiness::Ready,
            Err(Ended(outcome)) => {
                let said = outcome.data().get("error").and_then(|error| error.get("message")).and_then(Value::as_str);
                Readiness::NotReady(said.unwrap_or("no picture from the camera").to_owned())
            }
        }
    }
}
