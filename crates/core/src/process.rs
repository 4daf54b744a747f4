use async_trait::async_trait;

use crate::time::Stamp;

/// A way of doing something that was taught or learned.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// Its name. Kept [folded](crate::name::folded): one process a name, whose versions count up.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The steps, in words.
    pub steps: Vec<String>,
    /// A plan in the plan language, as text.
    pub plan: Option<String>,
    /// When to use it.
    pub when: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Where it came from: who saved it, from which mission.
    pub source: String,
}

impl Process {
    /// Whether both say the same; where they came from does not count.
    pub fn says_the_same_as(&self, other: &Self) -> bool {
        let Self { name, description, steps, plan, when, tags, source: _ } = self;
        *name == other.name
            && *description == other.description
            && *steps == other.steps
            && *plan == other.plan
            && *when == other.when
            && *tags == other.tags
    }
}

/// A process as it is kept.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredProcess {
    /// Stays the same over all versions.
    pub id: String,
    /// From 1.
    pub version: u32,
    /// The newest version's content.
    pub process: Process,
    /// How often it was followed and worked.
    pub successes: u32,
    /// How often it was followed and did not.
    pub failures: u32,
    /// When this version was saved.
    pub saved: Stamp,
}

/// A process that matches a query.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedProcess {
    /// The process.
    pub stored: StoredProcess,
    /// How well it matches, 0 to 1, successes considered.
    pub score: f64,
}

/// Why the store did not do it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// There is no process of that id or name.
    #[error("there is no process {id:?}")]
    Unknown {
        /// What was asked for.
        id: String,
    },
    /// The store cannot be read or written.
    #[error("the store of processes does not work: {reason}")]
    Unavailable {
        /// What is wrong and what to look at.
        reason: String,
    },
}

/// Where processes are kept.
#[async_trait]
pub trait ProcessStore: Send + Sync {
    /// Saves a process: a new one, or a new version of the one with its folded name. Equal content makes no new version.
    async fn save(&self, process: Process) -> Result<StoredProcess, StoreError>;
    /// The best matches, best first, at most `limit`. An empty query lists the most successful.
    async fn find(&self, query: &str, limit: usize) -> Result<Vec<RankedProcess>, StoreError>;
    /// All processes by name, at most `limit` after `skip`, and how many there are.
    async fn list(&self, skip: usize, limit: usize) -> Result<(Vec<StoredProcess>, usize), StoreError>;
    /// Forgets a process with all its versions, by id or name.
    async fn forget(&self, id: &str) -> Result<StoredProcess, StoreError>;
    /// Counts that a process was followed, and whether it worked.
    async fn record(&self, id: &str, worked: bool, note: Option<&str>) -> Result<StoredProcess, StoreError>;
}
