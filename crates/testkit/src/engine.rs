use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use cerebellum_core::{
    Detection, EngineError, Found, Frame, Look, Looker, Mask, OutputType, OutputValue, PixelBox, Prepared, Skill,
    Unjudged, VisionEngine,
};
use tokio::sync::watch;

type Answer = dyn Fn(&Skill, &Frame) -> Result<Look, EngineError> + Send + Sync;

/// An engine that answers as it is told to, and counts.
pub struct FakeEngine {
    notes: Vec<String>,
    unjudged: HashMap<String, String>,
    answer: Arc<Answer>,
    shared: Arc<Shared>,
}

struct Shared {
    held: watch::Sender<bool>,
    looks: AtomicU64,
    prepared: AtomicU64,
    running: watch::Sender<usize>,
    peak: AtomicU64,
}

impl Default for FakeEngine {
    fn default() -> Self {
        Self::new()
    }
}

impl FakeEngine {
    /// Finds one thing in each picture, and answers each output with `true`, 1, a text or an empty list.
    pub fn new() -> Self {
        Self::answering(|skill, frame| Ok(one_thing(skill, frame)))
    }

    /// Answers each look by that function, which must not wait.
    pub fn answering(answer: impl Fn(&Skill, &Frame) -> Result<Look, EngineError> + Send + Sync + 'static) -> Self {
        let shared = Shared {
            held: watch::Sender::new(false),
            looks: AtomicU64::new(0),
            prepared: AtomicU64::new(0),
            running: watch::Sender::new(0),
            peak: AtomicU64::new(0),
        };
        Self { notes: Vec::new(), unjudged: HashMap::new(), answer: Arc::new(answer), shared: Arc::new(shared) }
    }

    /// Says this about the words of every skill.
    #[must_use]
    pub fn noting(mut self, note: &str) -> Self {
        self.notes.push(note.to_owned());
        self
    }

    /// Cannot judge outputs of that name.
    #[must_use]
    pub fn not_judging(mut self, output: &str, reason: &str) -> Self {
        self.unjudged.insert(output.to_owned(), reason.to_owned());
        self
    }

    /// Makes looks hang until [`Self::release`].
    pub fn hold(&self) {
        self.shared.held.send_replace(true);
    }

    /// Lets looks that hang go on.
    pub fn release(&self) {
        self.shared.held.send_replace(false);
    }

    /// How many looks were begun.
    pub fn looks(&self) -> u64 {
        self.shared.looks.load(Ordering::SeqCst)
    }

    /// How many skills were made ready.
    pub fn prepared(&self) -> u64 {
        self.shared.prepared.load(Ordering::SeqCst)
    }

    /// The most looks that ran at the same time.
    pub fn peak(&self) -> u64 {
        self.shared.peak.load(Ordering::SeqCst)
    }

    /// Returns once that many looks run at the same time.
    pub async fn running(&self, count: usize) {
        let mut running = self.shared.running.subscribe();
        running.wait_for(|running| *running == count).await.expect("the engine outlives those who ask it");
    }
}

/// A look that finds one thing in the middle of the picture and answers every output.
pub fn one_thing(skill: &Skill, frame: &Frame) -> Look {
    let (width, height) = (frame.rgb.width.div_ceil(2), frame.rgb.height.div_ceil(2));
    let bounds = PixelBox { x: width / 2, y: height / 2, width, height };
    let mask = skill.segment.then(|| Mask { bounds, data: vec![255; bounds.area() as usize] });
    let detection = Detection {
        id: Some("thing".into()),
        label: "thing".into(),
        score: 0.9,
        bounds,
        has_mask: mask.is_some(),
        point: None,
    };
    let outputs = skill.outputs.iter().map(|output| {
        let value = match output.output_type {
            OutputType::Boolean => OutputValue::Boolean(true),
            OutputType::Number => OutputValue::Number(1.0),
            OutputType::Text => OutputValue::Text("a thing".into()),
            OutputType::List => OutputValue::List(vec![]),
        };
        (output.name.clone(), value)
    });
    Look { detections: vec![Found { detection, mask }], outputs: outputs.collect(), notes: vec![] }
}

impl VisionEngine for FakeEngine {
    fn name(&self) -> &'static str {
        "fake"
    }

    fn prepare(&self, skill: &Skill) -> Prepared {
        self.shared.prepared.fetch_add(1, Ordering::SeqCst);
        let unjudged = skill.outputs.iter().filter_map(|output| {
            let reason = self.unjudged.get(output.name.as_str())?;
            Some(Unjudged { output: output.name.clone(), reason: reason.clone() })
        });
        let looker =
            FakeLooker { skill: skill.clone(), answer: Arc::clone(&self.answer), shared: Arc::clone(&self.shared) };
        Prepared { looker: Box::new(looker), notes: self.notes.clone(), unjudged: unjudged.collect() }
    }
}

struct FakeLooker {
    skill: Skill,
    answer: Arc<Answer>,
    shared: Arc<Shared>,
}

#[async_trait]
impl Looker for FakeLooker {
    async fn look(&mut self, frame: Arc<Frame>) -> Result<Look, EngineError> {
        self.shared.looks.fetch_add(1, Ordering::SeqCst);
        let _running = Running::enter(&self.shared);
        let mut held = self.shared.held.subscribe();
        held.wait_for(|held| !held).await.expect("the looker holds the sender");
        (self.answer)(&self.skill, &frame)
    }
}

struct Running<'a>(&'a Shared);

impl<'a> Running<'a> {
    fn enter(shared: &'a Shared) -> Self {
        shared.running.send_modify(|running| {
            *running += 1;
            shared.peak.fetch_max(*running as u64, Ordering::SeqCst);
        });
        Self(shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.send_modify(|running| *running -= 1);
    }
}
