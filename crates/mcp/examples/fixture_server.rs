//! The robot of the tests as a program of its own: `fixture_server stdio|http|sse [PORT]`.

use std::error::Error;
use std::sync::Arc;

use cerebellum_mcp::serve::{ServeConfig, serve};
use tokio_util::sync::CancellationToken;

#[path = "../tests/it/robot.rs"]
#[allow(dead_code, reason = "the tests watch more of the robot than this program does")]
mod robot;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let transport = words.first().map_or("stdio", String::as_str).parse()?;
    let port = words.get(1).map_or(Ok(0), |port| port.parse())?;
    let config = ServeConfig { transport, port, ..ServeConfig::default() };
    let running = serve(Arc::new(robot::Robot::default()), config, CancellationToken::new()).await?;
    if let Some(address) = running.address {
        eprintln!("listening on {address}");
    }
    running.finished().await;
    Ok(())
}
