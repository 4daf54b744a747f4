//! The page of the demo and its routes.
//!
//! The page is one static file with its style and script, embedded in the program. It knows the robot only through
//! [`PageData`]; this crate starts nothing, subscribes to nothing, and knows neither MCP nor ROS.

/// Who may call the routes, and the headers that go with every answer.
pub mod guard;
/// The port behind the page.
pub mod page_data;
/// The routes.
pub mod router;
/// What the page shows, as JSON.
pub mod view;

pub use guard::AllowedHosts;
pub use page_data::{Jpeg, PageData, PageError, SceneChange, StartSkill};
pub use router::{router, router_for};
