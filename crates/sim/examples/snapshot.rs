//! Draws a view of the built-in home: `snapshot OUT.png [VIEW] [WIDTH HEIGHT]`.
use std::error::Error;

use cerebellum_sim::{Pace, PersonAction, PersonRequest, SceneCommand, SimConfig, Simulator, StillRequest, View};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("say where the picture goes")?;
    let view: View = serde_json::from_value(arguments.next().unwrap_or_else(|| "head".into()).into())?;
    let width = arguments.next().map_or(Ok(640), |text| text.parse())?;
    let height = arguments.next().map_or(Ok(480), |text| text.parse())?;
    let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
    let simulator = Simulator::start(SimConfig { pace: Pace::AWAITED, ..SimConfig::default() }, &tasks, stop.clone());
    simulator.command(SceneCommand::Person(PersonRequest { action: PersonAction::Enter })).await?;
    simulator.clock().sleep(std::time::Duration::from_secs(30)).await;
    std::fs::write(file, simulator.still(StillRequest { view, width, height }).await?)?;
    stop.cancel();
    Ok(())
}
