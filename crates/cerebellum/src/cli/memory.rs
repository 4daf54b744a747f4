use std::path::PathBuf;

use cerebellum_servers::memory::export::{self, Exported, SUCCESSES_MIN_DEFAULT};
use clap::{Args, Subcommand};

use super::{ServingArgs, note, print};
use crate::compose;
use crate::config::Settings;
use crate::exit::{Exit, Failure};

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum memory                                     over stdio, for a client that starts it
  cerebellum memory --transport http                    at http://127.0.0.1:9203/mcp, and /sse for old clients
  cerebellum memory export-skills ./skills              learned skill templates, to be read by you and then given to SKILLS_CATALOG";

/// Arguments of `memory`.
#[derive(Args, Clone, Debug)]
pub struct MemoryArgs {
    /// What to do; without it the server is served
    #[command(subcommand)]
    pub command: Option<MemoryCommand>,
    /// How the server is reached.
    #[command(flatten)]
    pub serving: ServingArgs,
}

/// What `memory` can do besides serving.
#[derive(Clone, Debug, Subcommand)]
pub enum MemoryCommand {
    /// Write learned skill templates that proved good into a folder, one file each; a name that exists is refused
    ExportSkills {
        /// The folder
        folder: PathBuf,
        /// How often a skill must have worked
        #[arg(long, value_name = "N", default_value_t = SUCCESSES_MIN_DEFAULT)]
        successes: u32,
    },
}

/// Writes the learned skill templates, and says of each that was not written why.
pub async fn export_skills(settings: &Settings, folder: PathBuf, successes: u32) -> Result<Exit, Failure> {
    let catalogs = compose::catalogs(settings)?;
    let taken: Vec<String> = catalogs.current().templates().iter().map(|template| template.name.clone()).collect();
    let store = compose::memory_store(settings).await?;
    let exported = export::export_skills(store.as_ref(), &folder, &taken, successes).await;
    store.close().await;
    let Exported { written, refused } = exported.map_err(|error| Failure::failed(error.to_string()))?;
    for (name, path) in &written {
        print(&format!("{name}: {}", path.display()));
    }
    for (name, reason) in &refused {
        note(&format!("{name}: not written: {reason}"));
    }
    if written.is_empty() {
        note("nothing was exported: no learned process is tagged `skill` and worked often enough");
    }
    Ok(if refused.is_empty() { Exit::Ok } else { Exit::Failed })
}
