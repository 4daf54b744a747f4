use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_mcp::Progress;
use cerebellum_mcp::attach::{Answer, CallError, CallOptions};
use clap::Args;
use tokio_util::sync::CancellationToken;

use super::target::{self, TargetArgs};
use super::{arguments, json_text, note, pictures, print};
use crate::exit::{Exit, Failure};

pub(super) const EXAMPLES: &str = "\
Examples:
  cerebellum call http://127.0.0.1:9201/mcp list_skill_templates
  cerebellum call http://127.0.0.1:9201/mcp instantiate_skill '{\"template\":\"find_object\",\"params\":{\"query\":\"red can\"}}'
  cerebellum call http://127.0.0.1:9201/mcp instantiate_skill template=find_object params.query='red can'
  cerebellum call http://127.0.0.1:9202/sse get_latest skill=find_object
  cerebellum call 'stdio:cerebellum skill-control' list_skill_templates

stdout holds the answer alone: one line of JSON, indented on a terminal. Progress and notes go to stderr.
Exit codes: 0 the tool did it, 1 it did not, 64 bad usage, 69 the server cannot be reached. Ctrl-C cancels the call.";

/// Arguments of `call`.
#[derive(Args, Clone, Debug)]
#[command(after_help = EXAMPLES)]
pub struct CallArgs {
    /// Where the server is.
    #[command(flatten)]
    pub target: TargetArgs,
    /// The tool
    pub tool: String,
    /// The arguments: one JSON object, or key=value (a value that is JSON is taken as JSON; a.b=c makes {"a":{"b":"c"}})
    #[arg(value_name = "JSON|key=value")]
    pub arguments: Vec<String>,
    /// Print pictures as the base64 they are
    #[arg(long, conflicts_with = "save")]
    pub raw: bool,
    /// Write pictures into this folder and print their names
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// The longest time without news from the tool, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 60.0, value_parser = positive)]
    pub timeout: f64,
}

/// Calls a tool and prints its answer. Ctrl-C tells the server to stop and waits until it was told.
pub async fn run(args: &CallArgs) -> Result<Exit, Failure> {
    let arguments = arguments::parse(&args.arguments).map_err(Failure::usage)?;
    let client = target::connect(&args.target).await?;
    let cancel = CancellationToken::new();
    let options = CallOptions {
        idle: Some(Duration::from_secs_f64(args.timeout)),
        progress: Some(Arc::new(Notes)),
        cancel: cancel.clone(),
        ..CallOptions::default()
    };
    let answer = {
        let call = client.call(&args.tool, arguments, options);
        tokio::pin!(call);
        tokio::select! {
            answer = &mut call => answer,
            Ok(()) = tokio::signal::ctrl_c() => {
                note("cancelling; waiting until the server was told to stop");
                cancel.cancel();
                call.await
            }
        }
    };
    client.close().await;
    let answer = answer.map_err(|error| failure(&args.tool, &error))?;
    show(args, answer)
}

fn positive(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(number) if number > 0.0 && number <= 86_400.0 => Ok(number),
        _ => Err("expected seconds, more than 0 and at most 86400".to_owned()),
    }
}

fn show(args: &CallArgs, answer: Answer) -> Result<Exit, Failure> {
    let exit = if answer.is_ok() { Exit::Ok } else { Exit::Failed };
    let mut data = answer.data;
    match &args.save {
        Some(folder) => {
            let saved = pictures::save(&mut data, folder)
                .map_err(|error| Failure::failed(format!("{}: {error}", folder.display())))?;
            for path in &saved {
                note(&format!("saved {}", path.display()));
            }
        }
        None if args.raw => {}
        None => pictures::describe(&mut data),
    }
    print(&json_text(&data, std::io::stdout().is_terminal()));
    Ok(exit)
}

fn failure(tool: &str, error: &CallError) -> Failure {
    let exit = match error {
        CallError::Lost => Exit::Unavailable,
        CallError::Refused { .. }
        | CallError::TimedOut { .. }
        | CallError::Cancelled
        | CallError::AsksForInput
        | CallError::Unexpected(_) => Exit::Failed,
    };
    let next = match error {
        CallError::Refused { .. } => "\nSee what the server offers with: cerebellum tools URL",
        CallError::TimedOut { .. } => "\nWait longer with --timeout SECONDS.",
        _ => "",
    };
    Failure::new(exit, format!("{tool}: {error}{next}"))
}

/// Progress, for a person.
struct Notes;

impl Progress for Notes {
    fn report(&self, done: f64, total: Option<f64>, message: &str) {
        let share = total
            .filter(|total| *total > 0.0)
            .map(|total| format!("{:.0} % ", 100.0 * done / total))
            .unwrap_or_default();
        note(&format!("{share}{message}"));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_answer_is_one_line_unless_a_person_looks() {
        let data = json!({"ok": true, "text": "two\nlines"});
        assert_eq!(json_text(&data, false).lines().count(), 1);
        assert!(json_text(&data, true).lines().count() > 2);
    }

    #[test]
    fn a_lost_connection_is_told_apart_from_a_no() {
        assert_eq!(failure("x", &CallError::Lost).exit, Exit::Unavailable);
        assert_eq!(failure("x", &CallError::Cancelled).exit, Exit::Failed);
    }
}
