/// `locate`: where things are, measured in the picture.
pub mod locate;
/// `memory`: ways of doing things that were taught.
pub mod memory;
/// `motion`: what the robot's body does.
pub mod motion;
/// `perception`: what the robot sees.
pub mod perception;
/// `skill_control`: what the robot is configured to perceive.
pub mod skill_control;
/// `task`: whole tasks that close their own loop.
pub mod task;
