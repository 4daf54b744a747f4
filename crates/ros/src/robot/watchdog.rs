use std::sync::Arc;
use std::time::Duration;

use cerebellum_core::{BusError, COMMAND_EXPIRY, Clock};
use cerebellum_wire::robot::{self as words, Refresh};
use futures::future;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::ros2::{CmdVel, Ros2Config};
use super::topics::Velocity;
use crate::action::Client;
use crate::bus::{Publisher, Qos, RosBus, Sink, persist};
use crate::msg::common::Text;
use crate::msg::{Message, decode, encode};

/// Where whoever drives a ROS robot says that it still does (`std_msgs/String`, JSON).
const HEARTBEAT: &str = "/cerebellum_robot/heartbeat";
/// How long a cancel may take before it is tried again.
const CANCEL_DEADLINE: Duration = Duration::from_millis(500);
/// How often zero is commanded, and how many times, once the driver is gone.
const ZERO_EVERY: Duration = Duration::from_millis(50);
const ZEROS: usize = 20;
/// How often a cancel is tried.
const CANCELS: usize = 10;

/// Tells the watchdog that a motion goes on: from the task that awaits it, and no other.
pub(super) struct Heart {
    beats: Box<dyn Publisher>,
}

impl Heart {
    pub(super) async fn on(bus: &Arc<dyn RosBus>) -> Result<Self, BusError> {
        Ok(Self { beats: bus.advertise(HEARTBEAT, &Text::TYPE, Qos::STREAM).await? })
    }

    pub(super) fn is_heard(&self) -> bool {
        self.beats.is_wanted()
    }

    pub(super) fn beat(&self, id: &str, is_wanted: bool) {
        let data = words::to_string(&Refresh { id: id.to_owned(), is_wanted });
        self.beats.put(encode(&Text { data: &data }));
    }
}

/// Stops a ROS robot whose driver died or froze, until `stop`. A goal of Nav2 outlives whoever sent it, and not every base
/// stops without commands: so a small process of its own runs this beside the one that drives. When a motion was begun and
/// nothing is heard of it for [`COMMAND_EXPIRY`] of `clock`, every goal of the robot's actions is cancelled and zero
/// is commanded for a second.
pub async fn watch_over(bus: Arc<dyn RosBus>, config: Ros2Config, clock: Arc<dyn Clock>, stop: CancellationToken) {
    let (beats, mut newest) = watch::channel((false, Duration::ZERO));
    let heard = Arc::clone(&clock);
    let sink: Sink = Arc::new(move |bytes| {
        let beat = decode::<Text<'_>>(bytes).ok().and_then(|text| words::from_str::<Refresh>(text.data).ok());
        if let Some(beat) = beat {
            beats.send_replace((beat.is_wanted, heard.monotonic()));
        }
    });
    let watching = async {
        let ros_type = Text::TYPE;
        let _held =
            persist(&bus, "watchdog", || bus.subscribe(HEARTBEAT, &ros_type, Qos::STREAM, Arc::clone(&sink))).await;
        while newest.changed().await.is_ok() {
            let (is_moving, at) = *newest.borrow_and_update();
            if !is_moving {
                continue;
            }
            let left = (at + COMMAND_EXPIRY).saturating_sub(clock.monotonic());
            tokio::select! {
                biased;
                changed = newest.changed() => if changed.is_ok() { newest.mark_changed() },
                () = clock.sleep(left) => {
                    tracing::error!("whoever drives the robot is not heard of any more; stopping it");
                    halt(&bus, &config, &clock, &mut newest).await;
                }
            }
        }
    };
    stop.run_until_cancelled(watching).await;
}

/// Cancels, and commands zero until somebody drives again.
async fn halt(
    bus: &Arc<dyn RosBus>,
    config: &Ros2Config,
    clock: &Arc<dyn Clock>,
    newest: &mut watch::Receiver<(bool, Duration)>,
) {
    let cancelling = future::join_all(config.actions().into_iter().map(|action| cancel(bus, action)));
    let zeroing = async {
        let cmd_vel = CmdVel::new(Arc::clone(bus), config, Arc::clone(clock));
        let Ok(commands) = cmd_vel.ready().await else { return };
        for _ in 0..ZEROS {
            commands.put(Velocity::ZERO);
            tokio::time::sleep(ZERO_EVERY).await;
        }
    };
    let until_driven = async {
        tokio::select! {
            () = zeroing => {}
            changed = newest.changed() => if changed.is_ok() { newest.mark_changed() },
        }
    };
    tokio::join!(cancelling, until_driven);
}

async fn cancel(bus: &Arc<dyn RosBus>, action: String) {
    let client = Client::new(Arc::clone(bus), &action);
    for _ in 0..CANCELS {
        match client.cancel_all(CANCEL_DEADLINE).await {
            Ok(goals) => {
                tracing::warn!(action, goals, "cancelled what ran");
                return;
            }
            Err(error) => tracing::error!(action, %error, "not cancelled yet"),
        }
        tokio::time::sleep(ZERO_EVERY).await;
    }
}
