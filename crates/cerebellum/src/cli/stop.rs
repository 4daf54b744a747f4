use std::io::IsTerminal;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use reqwest::StatusCode;
use secrecy::ExposeSecret;
use serde_json::{Value, json};

use super::{json_text, print};
use crate::config::{Environment, state_folder};
use crate::exit::{Exit, Failure};
use crate::secrets;

/// How long an answer may take: a stop is measured for two seconds.
const DEADLINE: Duration = Duration::from_secs(10);

/// Arguments of `stop`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum stop\n  cerebellum stop http://127.0.0.1:9200\n\nExit codes: 0 the robot is measured to stand still, 1 it is not, 69 nobody answers."
)]
pub struct StopArgs {
    /// The control port of the process that owns the robot
    #[arg(default_value = "http://127.0.0.1:9200")]
    pub url: String,
}

/// Arguments of `resume`.
#[derive(Args, Clone, Debug)]
pub struct ResumeArgs {
    /// The control port of the process that owns the robot
    #[arg(default_value = "http://127.0.0.1:9200")]
    pub url: String,
    /// Who resumes it; kept with the latch
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// A file with the operator token; the one of the state folder unless given
    #[arg(long, value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// Stops the robot and latches. Needs no token.
pub async fn stop(args: &StopArgs) -> Result<Exit, Failure> {
    let answer = post(&args.url, "/stop", json!({"by": "cerebellum stop"}), None).await?;
    print(&json_text(&answer, std::io::stdout().is_terminal()));
    Ok(if answer["stopped"] == true { Exit::Ok } else { Exit::Failed })
}

/// Ends a stop. Only the operator may.
pub async fn resume(args: &ResumeArgs, environment: &Environment) -> Result<Exit, Failure> {
    let file = args.token_file.clone().unwrap_or_else(|| secrets::operator_token_file(&state_folder(environment)));
    let token = secrets::read_token(&file).map_err(|error| Failure::usage(format!("{error}; --token-file FILE")))?;
    let by = args.by.clone().or_else(|| environment.get("USER").map(str::to_owned));
    let body = json!({"by": by.as_deref().unwrap_or("operator")});
    let answer = post(&args.url, "/resume", body, Some(token.expose_secret())).await?;
    print(&json_text(&answer, std::io::stdout().is_terminal()));
    Ok(if answer["ok"] == true { Exit::Ok } else { Exit::Failed })
}

async fn post(url: &str, path: &str, body: Value, token: Option<&str>) -> Result<Value, Failure> {
    // Another part of the program may have chosen the same provider before.
    drop(rustls::crypto::ring::default_provider().install_default());
    let unreachable = |error: &dyn std::fmt::Display| {
        Failure::new(
            Exit::Unavailable,
            format!("{url}: {error}\nIs this the control port of the robot's process, and does that run?"),
        )
    };
    let client =
        reqwest::Client::builder().no_proxy().timeout(DEADLINE).build().map_err(|error| unreachable(&error))?;
    let mut request = client.post(format!("{}{path}", url.trim_end_matches('/'))).json(&body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    let response = request.send().await.map_err(|error| unreachable(&error))?;
    let status = response.status();
    let answer: Value = response.json().await.map_err(|error| unreachable(&error))?;
    if status == StatusCode::UNAUTHORIZED {
        return Err(Failure::usage(format!("{url}: {}; give --token-file FILE", answer["error"]["message"])));
    }
    Ok(answer)
}
