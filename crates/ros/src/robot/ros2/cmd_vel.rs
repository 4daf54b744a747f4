use std::sync::{Arc, Mutex};

use cerebellum_core::Clock;

use super::{Ros2Config, Velocity, VelocityType};
use crate::bus::{Publisher, Qos, RosBus};
use crate::msg::common::Header;
use crate::msg::motion::Twist;
use crate::msg::nav::TwistStamped;
use crate::msg::{Message, RosType, encode};

/// The topic where a base takes velocities, in the type that its subscriber takes.
pub(in crate::robot) struct CmdVel {
    bus: Arc<dyn RosBus>,
    topic: String,
    fallback: VelocityType,
    frame: String,
    clock: Arc<dyn Clock>,
    commands: Mutex<Option<Arc<Commands>>>,
}

/// Velocities of one type.
pub(in crate::robot) struct Commands {
    publisher: Box<dyn Publisher>,
    kind: VelocityType,
    frame: String,
    clock: Arc<dyn Clock>,
}

impl VelocityType {
    pub(super) const ALL: [Self; 2] = [Self::Twist, Self::Stamped];

    pub(super) const fn ros_type(self) -> RosType {
        match self {
            Self::Twist => Twist::TYPE,
            Self::Stamped => TwistStamped::TYPE,
        }
    }
}

impl CmdVel {
    pub(in crate::robot) fn new(bus: Arc<dyn RosBus>, config: &Ros2Config, clock: Arc<dyn Clock>) -> Self {
        let [_, _, frame] = config.frames.clone();
        let (topic, fallback) = (config.cmd_vel.clone(), config.cmd_vel_type);
        Self { bus, topic, fallback, frame, clock, commands: Mutex::default() }
    }

    /// What the robot's subscriber takes now; `None` when there is none.
    pub(super) fn taken(&self) -> Option<VelocityType> {
        let subscribers = self.bus.graph().ok()?.subscribers;
        let takes = |kind: &VelocityType| {
            let ros_type = kind.ros_type();
            subscribers.iter().any(|endpoint| endpoint.name == self.topic && endpoint.ros_type == ros_type)
        };
        VelocityType::ALL.into_iter().find(takes)
    }

    /// The publisher for what the robot takes now.
    pub(in crate::robot) async fn ready(&self) -> Result<Arc<Commands>, String> {
        let kind = self.taken().unwrap_or(self.fallback);
        let held = self.held().clone();
        if let Some(commands) = held.filter(|commands| commands.kind == kind) {
            return Ok(commands);
        }
        let advertised = self.bus.advertise(&self.topic, &kind.ros_type(), Qos::STREAM).await;
        let publisher = advertised.map_err(|error| error.to_string())?;
        let commands =
            Arc::new(Commands { publisher, kind, frame: self.frame.clone(), clock: Arc::clone(&self.clock) });
        *self.held() = Some(Arc::clone(&commands));
        Ok(commands)
    }

    fn held(&self) -> std::sync::MutexGuard<'_, Option<Arc<Commands>>> {
        self.commands.lock().expect("no holder of this lock panics")
    }
}

impl Commands {
    pub(in crate::robot) fn put(&self, velocity: Velocity) {
        let twist = velocity.to_twist();
        self.publisher.put(match self.kind {
            VelocityType::Twist => encode(&twist),
            VelocityType::Stamped => {
                encode(&TwistStamped { header: Header::new(self.clock.now(), &self.frame), twist })
            }
        });
    }
}

/// Zero is commanded when this is dropped.
pub(super) struct Driving(pub(super) Arc<Commands>);

impl Drop for Driving {
    fn drop(&mut self) {
        // Twice, since whoever is behind loses messages.
        self.0.put(Velocity::ZERO);
        self.0.put(Velocity::ZERO);
    }
}
