use cerebellum_core::TaskAction;

mod overlay;
mod publish;
mod streams;
mod tasks;

pub use overlay::{OverlayPicture, OverlayPictures};
pub use publish::Publishers;
pub use streams::Streams;
pub use tasks::{Tasks, nodes_named, serve_tasks};

/// The three services of a vision node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Service {
    Create,
    Manage,
    List,
}

impl Service {
    fn name(self, node: &str) -> String {
        let name = match self {
            Self::Create => "create_vision_task",
            Self::Manage => "manage_vision_task",
            Self::List => "list_vision_tasks",
        };
        format!("/{}/{name}", node.trim_matches('/'))
    }
}

fn action_from_str(text: &str) -> Option<TaskAction> {
    [TaskAction::Delete, TaskAction::Enable, TaskAction::Disable].into_iter().find(|action| action.as_str() == text)
}

#[cfg(test)]
mod tests;
