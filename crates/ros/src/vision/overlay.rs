use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use cerebellum_core::{Stamp, Subscription};
use tokio::sync::Notify;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::bus::{Qos, RosBus, Sink};
use crate::msg::common::CompressedImage;
use crate::msg::{Message, decode};

/// How long a picture is kept coming after it was last asked for.
const WANTED_FOR: Duration = Duration::from_secs(5);
/// How many overlays are kept coming at a time; the one that was asked for longest ago makes room.
const FOLLOWED_MAX: usize = 32;

/// The annotated pictures of skills, for a person who looks. An overlay is subscribed only while somebody asks for it, since
/// it costs the vision node and the bus.
pub struct OverlayPictures {
    bus: Arc<dyn RosBus>,
    followed: Arc<Mutex<HashMap<String, Followed>>>,
    is_asked: Arc<Notify>,
}

/// An annotated picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayPicture {
    /// Stamp of the picture that was looked at.
    pub stamp: Stamp,
    /// The file.
    pub jpeg: Bytes,
}

struct Followed {
    asked: Instant,
    newest: Arc<Mutex<Option<OverlayPicture>>>,
    _subscription: Subscription,
}

impl OverlayPictures {
    /// The overlays on the bus. The task that ends subscriptions nobody asks for runs on `tasks` until `stop`.
    pub fn new(bus: Arc<dyn RosBus>, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let followed = Arc::default();
        let is_asked = Arc::new(Notify::new());
        tasks.spawn(end_unasked(Arc::clone(&followed), is_asked.clone(), stop));
        Self { bus, followed, is_asked }
    }

    /// The newest picture of the skill since somebody began to ask; `None` until one has come. Ask again and again.
    pub async fn latest(&self, skill: &str) -> Option<OverlayPicture> {
        let now = Instant::now();
        if let Some(followed) = lock(&self.followed).get_mut(skill) {
            followed.asked = now;
            return lock(&followed.newest).clone();
        }
        let newest: Arc<Mutex<Option<OverlayPicture>>> = Arc::default();
        let slot = newest.clone();
        let sink: Sink = Arc::new(move |message| {
            let Ok(image) = decode::<CompressedImage<'_>>(message) else { return };
            let picture =
                OverlayPicture { stamp: image.header.stamp.into(), jpeg: Bytes::copy_from_slice(image.data.0) };
            *lock(&slot) = Some(picture);
        });
        let topic = format!("/vision/{skill}/overlay");
        let subscribed = self.bus.subscribe(&topic, &CompressedImage::TYPE, Qos::PICTURE, sink).await;
        let subscription = subscribed.inspect_err(|error| tracing::debug!(topic, %error, "no overlay")).ok()?;
        let followed = Followed { asked: now, newest, _subscription: subscription };
        let ended = {
            let mut all = lock(&self.followed);
            let oldest = all.iter().min_by_key(|(_, followed)| followed.asked).map(|(skill, _)| skill.clone());
            let ended = oldest.filter(|_| all.len() >= FOLLOWED_MAX).and_then(|skill| all.remove(&skill));
            [ended, all.insert(skill.to_owned(), followed)]
        };
        drop(ended);
        self.is_asked.notify_one();
        None
    }
}

async fn end_unasked(followed: Arc<Mutex<HashMap<String, Followed>>>, is_asked: Arc<Notify>, stop: CancellationToken) {
    let sweep = async {
        loop {
            if lock(&followed).is_empty() {
                is_asked.notified().await;
            }
            tokio::time::sleep(WANTED_FOR / 5).await;
            let mut kept = HashMap::new();
            let mut ended = Vec::new();
            {
                let mut all = lock(&followed);
                for (skill, one) in all.drain() {
                    if one.asked.elapsed() < WANTED_FOR {
                        kept.insert(skill, one);
                    } else {
                        ended.push(one);
                    }
                }
                *all = kept;
            }
            // Ending a subscription may take a moment; nobody is kept from asking meanwhile.
            drop(ended);
        }
    };
    stop.run_until_cancelled(sweep).await;
    lock(&followed).clear();
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no holder of this lock panics")
}
