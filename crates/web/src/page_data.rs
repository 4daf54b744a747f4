use async_trait::async_trait;
use bytes::Bytes;
use cerebellum_core::Stamp;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::view::PageState;

/// What the page asks of the program behind it. Reads are answered from memory, at once: open pages ask twice a second.
#[async_trait]
pub trait PageData: Send + Sync {
    /// All the page shows, apart from pictures.
    async fn state(&self) -> Result<PageState, PageError>;
    /// The newest picture of the camera.
    async fn picture(&self) -> Result<Jpeg, PageError>;
    /// The newest annotated picture of a running skill.
    async fn overlay(&self, skill: &str) -> Result<Jpeg, PageError>;
    /// Starts a skill from the catalog and answers its id.
    async fn start_skill(&self, start: StartSkill) -> Result<String, PageError>;
    /// Stops a running skill.
    async fn stop_skill(&self, skill: &str) -> Result<(), PageError>;
    /// Changes the simulated scene and answers what happened in a few words. Refused where there is no simulator.
    async fn change_scene(&self, change: SceneChange) -> Result<String, PageError>;
}

/// A picture as it goes to the browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jpeg {
    /// The file.
    pub bytes: Bytes,
    /// When the picture was taken, on the robot's clock.
    pub stamp: Stamp,
    /// How old it is now, in milliseconds.
    pub age_ms: u64,
}

/// A skill to start.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StartSkill {
    /// The name of a template of the catalog.
    pub template: String,
    /// Its parameters.
    #[serde(default)]
    pub params: Map<String, Value>,
}

/// A change of the simulated scene.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SceneChange {
    /// The person comes in.
    PersonEnters,
    /// The person goes out.
    PersonLeaves,
    /// A thing is put on another place.
    MoveObject {
        /// The unique name of the thing.
        object: String,
        /// The name of the place.
        place: String,
    },
    /// The camera sees nothing while it is covered.
    CoverCamera,
    /// It sees again.
    UncoverCamera,
    /// Everything stands as at the start.
    Reset,
}

/// Why the page does not get what it asked for. All texts are for a person.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PageError {
    /// The thing does not exist.
    #[error("{what}")]
    NotFound {
        /// What is not there.
        what: String,
    },
    /// The request makes no sense.
    #[error("{reason}")]
    BadRequest {
        /// What is wrong with it.
        reason: String,
    },
    /// It was understood and not done.
    #[error("{reason}")]
    Refused {
        /// Why.
        reason: String,
    },
    /// It cannot be done now.
    #[error("{reason}")]
    Unavailable {
        /// What is missing, and what to do.
        reason: String,
    },
}
