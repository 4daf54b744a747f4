//! The same between two processes' sessions.

use cerebellum_core::Body;

use super::*;
use crate::action::tests::goals_and_cancels;
use crate::zenoh::RouterRole;
use crate::zenoh::tests::{Program, free_endpoint};

#[tokio::test(flavor = "multi_thread")]
async fn a_robot_is_driven_over_zenoh_and_lost_with_its_process() {
    let endpoint = free_endpoint();
    let robots = Program::connected(&endpoint, RouterRole::Always, "robots").await;
    let drivers = Program::connected(&endpoint, RouterRole::Never, "drivers").await;
    let (theirs, ours): (Arc<dyn RosBus>, Arc<dyn RosBus>) = (robots.bus.clone(), drivers.bus.clone());
    let served = Served::on(&theirs);
    a_drive_and_a_cancel(&served, &ours).await;

    let link = link(&ours).await;
    assert_eq!(link.state().await, served.robot.state().await);
    let driving = drive(&link, 100.0);
    eventually("it moves", || served.robot.moves()).await;
    // The driver's process dies without a word: its motion expires.
    drop(link);
    let (robot, is_moving) = (served.robot.clone(), Arc::clone(&served.robot.is_moving));
    drivers.end().await;
    robot.clock.advance(COMMAND_EXPIRY);
    eventually("it stands", || !is_moving.load(Ordering::SeqCst)).await;
    assert!(outcome(driving).await.is_err());
    served.end().await;
    robots.end().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_work_over_zenoh() {
    let endpoint = free_endpoint();
    let robots = Program::connected(&endpoint, RouterRole::Always, "robots").await;
    let drivers = Program::connected(&endpoint, RouterRole::Never, "drivers").await;
    let (theirs, ours): (Arc<dyn RosBus>, Arc<dyn RosBus>) = (robots.bus.clone(), drivers.bus.clone());
    goals_and_cancels(&theirs, &ours).await;
    drivers.end().await;
    robots.end().await;
}
