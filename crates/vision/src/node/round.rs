use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{EngineError, Frame, Look, Looker};
use tokio::runtime::Handle;
use tokio::sync::OwnedSemaphorePermit;
use tracing::debug;

use super::clean::{self, Clean};
use super::latched::Latched;
use super::task::Task;
use crate::overlay;

/// One look at one picture, and what is published of it. Runs on a blocking thread.
pub(super) struct Round {
    pub(super) looker: Box<dyn Looker>,
    pub(super) frame: Arc<Frame>,
    pub(super) task: Arc<Task>,
    pub(super) engine: &'static str,
    pub(super) deadline: Duration,
    /// The turn to look; kept until the thread is free again.
    pub(super) turn: OwnedSemaphorePermit,
}

/// How a round ended.
pub(super) struct Finished {
    /// Ready for the next picture.
    pub(super) looker: Box<dyn Looker>,
    /// How long the engine asked to be left alone.
    pub(super) pause: Duration,
    /// Whether this was the one result of a skill that wanted one.
    pub(super) done: bool,
}

impl Round {
    pub(super) fn run(mut self, runtime: &Handle) -> Finished {
        self.task.looking();
        let mut finished = (Duration::ZERO, false);
        match runtime.block_on(self.answer()) {
            Answer::Abandoned => {}
            Answer::Late => {
                let seconds = self.deadline.as_secs_f64();
                self.task.trouble(format!("engine {}: no answer for a picture within {seconds} s", self.engine));
            }
            Answer::Failed(error) => {
                if let EngineError::Busy { retry_after, .. } = error {
                    finished.0 = retry_after;
                }
                self.task.trouble(format!("engine {}: {error}", self.engine));
            }
            Answer::Looked(look) => finished.1 = self.publish(look),
        }
        drop(self.turn);
        Finished { looker: self.looker, pause: finished.0, done: finished.1 }
    }

    /// Looks until the answer, the deadline, or until nobody wants it any more.
    async fn answer(&mut self) -> Answer {
        let looking = tokio::time::timeout(self.deadline, self.looker.look(Arc::clone(&self.frame)));
        tokio::select! {
            biased;
            () = self.task.stop().cancelled() => Answer::Abandoned,
            () = self.task.until_enabled(false) => Answer::Abandoned,
            answer = looking => match answer {
                Ok(Ok(look)) => Answer::Looked(look),
                Ok(Err(error)) => Answer::Failed(error),
                Err(_) => Answer::Late,
            },
        }
    }

    /// Publishes the look. Answers whether the skill has its one result now.
    fn publish(&self, look: Look) -> bool {
        let (task, frame) = (&self.task, &self.frame);
        let notes = look.notes.clone();
        let Clean { frame: found, mut outputs, left_out } = clean::clean(look, &task.skill, frame, self.engine);
        outputs.retain(|(name, _)| !task.is_unjudged(name));
        task.looked(notes, left_out);

        let looked = Arc::new(Latched { frame: found, outputs });
        let published = task.publish(|publisher| looked.publish(publisher));
        if published && task.overlay_wanted() {
            match overlay::jpeg(&overlay::draw(&frame.rgb, &looked.frame, &looked.outputs)) {
                Ok(jpeg) => {
                    task.publish(|publisher| publisher.overlay(frame.stamp, &frame.frame_id, jpeg));
                }
                Err(error) => debug!(%error, "no overlay"),
            }
        }
        if !published || !task.skill.once {
            return false;
        }
        task.keep(Some(looked));
        task.disable()
    }
}

enum Answer {
    Looked(Look),
    Failed(EngineError),
    Late,
    Abandoned,
}
