//! Logs: on stderr and nowhere else, one JSON object a line by default, pretty on a terminal.
//!
//! Ids come from spans: the fields of every span around an event (`tool`, `request_id`, `skill`, `mission_id`) stand at the
//! top of its line.

use std::io::{IsTerminal, Write};

use tracing::Subscriber;
use tracing_subscriber::filter::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::config::LogFormat;

/// Libraries that say more than an operator can use, and the level they are capped at unless the filter names them. Zenoh
/// warns of every attempt to connect, and rmcp of every caller that went away: `cerebellum_ros` and `cerebellum_mcp` say
/// what matters of it once, and what to do.
const NOISY: &[(&str, &str)] = &[
    ("zenoh", "error"),
    ("rustls", "warn"),
    ("hyper", "warn"),
    ("h2", "warn"),
    ("reqwest", "warn"),
    ("rmcp", "off"),
    ("tower", "warn"),
    ("mio", "warn"),
    ("runtime", "warn"),
];

const LEVELS: &[&str] = &["off", "error", "warn", "info", "debug", "trace"];

/// How log lines look, once it is known where they go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// One JSON object a line.
    Json,
    /// For people.
    Pretty,
}

impl Look {
    /// What a format means for this process's stderr.
    pub fn of(format: LogFormat) -> Self {
        match format {
            LogFormat::Pretty => Self::Pretty,
            LogFormat::Auto if std::io::stderr().is_terminal() => Self::Pretty,
            LogFormat::Json | LogFormat::Auto => Self::Json,
        }
    }
}

/// Starts logging to stderr, and makes a panic one more log line. Once in a process; a second call changes nothing.
/// `level` was accepted by [`check_level`]; anything else counts as `info`.
pub fn init(level: &str, look: Look) {
    let subscriber = subscriber(level, look, std::io::stderr);
    if subscriber.try_init().is_ok() && look == Look::Json {
        std::panic::set_hook(Box::new(|panic| {
            drop(writeln!(std::io::stderr().lock(), "{}", panic_line(panic)));
        }));
    }
}

/// Says what is wrong with a level or a filter.
pub fn check_level(level: &str) -> Result<(), String> {
    let accepted = "accepted: error, warn, info, debug, trace, off, or a filter such as info,cerebellum_mcp=debug";
    // A lone word that is no level would silently become the name of a target.
    let is_level = |word: &str| LEVELS.iter().any(|level| level.eq_ignore_ascii_case(word.trim()));
    let stray = level.split(',').find(|part| !part.contains(['=', '[', ']']) && !is_level(part));
    match stray {
        Some(stray) => Err(format!("{stray:?} is no log level; {accepted}")),
        None => EnvFilter::try_new(level)
            .map(drop)
            .map_err(|error| format!("{level:?} is no log filter ({error}); {accepted}")),
    }
}

fn filter(level: &str) -> EnvFilter {
    let caps =
        NOISY.iter().filter(|(target, _)| !level.contains(target)).map(|(target, cap)| format!("{target}={cap}"));
    let quiet = matches!(level.trim(), "off" | "error");
    let all: Vec<String> = [level.to_owned()].into_iter().chain(caps.filter(|_| !quiet)).collect();
    EnvFilter::try_new(all.join(",")).unwrap_or_else(|_| EnvFilter::new("info"))
}

fn subscriber<W>(level: &str, look: Look, writer: W) -> Box<dyn Subscriber + Send + Sync>
where
    W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
{
    let registry = tracing_subscriber::registry().with(filter(level));
    match look {
        Look::Pretty => {
            let ansi = std::io::stderr().is_terminal();
            Box::new(registry.with(tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(ansi)))
        }
        Look::Json => {
            let layer = json_subscriber::layer()
                .flatten_event(true)
                .flatten_span_list_on_top_level(true)
                .with_current_span(false)
                .with_span_list(false)
                .with_writer(writer);
            Box::new(registry.with(layer))
        }
    }
}

/// A panic as one line of JSON, written past the logging itself: the panic may have happened inside it.
fn panic_line(panic: &std::panic::PanicHookInfo<'_>) -> serde_json::Value {
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let message = text.unwrap_or("a panic without words");
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    serde_json::json!({
        "unix_time": since_epoch.as_secs_f64(),
        "level": "ERROR",
        "target": "panic",
        "message": message,
        "thread": std::thread::current().name().unwrap_or("unnamed"),
        "location": panic.location().map(ToString::to_string),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use serde_json::Value;
    use tracing::{error, info, info_span, trace, warn};

    use super::*;

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl std::io::Write for Lines {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    /// What is logged by `work`, each line parsed.
    fn lines(level: &str, work: impl FnOnce()) -> Vec<Value> {
        let lines = Lines::default();
        let writer = lines.clone();
        tracing::subscriber::with_default(subscriber(level, Look::Json, move || writer.clone()), work);
        let bytes = lines.0.lock().unwrap().clone();
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))).collect()
    }

    #[test]
    fn fields_of_all_spans_stand_on_inner_lines() {
        let lines = lines("info", || {
            let _call = info_span!("call", tool = "instantiate_skill", request_id = 7).entered();
            let _stage = info_span!("stage", skill = "find_object").entered();
            info!(duration_ms = 12.5, "created");
        });
        let line = &lines[0];
        assert_eq!(line["tool"], "instantiate_skill", "{line}");
        assert_eq!((&line["request_id"], &line["skill"]), (&7.into(), &"find_object".into()), "{line}");
        assert_eq!((&line["duration_ms"], &line["message"]), (&12.5.into(), &"created".into()), "{line}");
        assert!(line["timestamp"].is_string() && line["level"] == "INFO", "{line}");
    }

    #[test]
    fn every_line_is_json_at_trace_level() {
        let lines = lines("trace", || {
            let span = info_span!("odd", quotes = "\"a\"\nb", late = tracing::field::Empty);
            let _entered = span.enter();
            span.record("late", "\u{1b}[31m\u{0}");
            trace!(not_a_number = f64::NAN, infinite = f64::INFINITY, debug = ?Some("x\"y"), "line\nbreak \u{7f}");
            warn!(error = %std::io::Error::other("it \"broke\""), tool = 1, tool = 2, level = "x");
            info!("{}", "long ".repeat(10_000));
        });
        assert_eq!(lines.len(), 3);
    }

    #[test]
    fn noisy_libraries_are_capped_unless_named() {
        let noise = || {
            info!(target: "zenoh::net", "chatter");
            info!(target: "zenoh_transport::unicast", "chatter");
            warn!(target: "zenoh::net", "an attempt that failed");
            error!(target: "zenoh::net", "trouble");
            trace!(target: "cerebellum", "ours");
        };
        assert_eq!(lines("trace", noise).len(), 2);
        assert_eq!(lines("trace,zenoh=info", noise).len(), 5);
    }

    #[test]
    fn a_level_that_is_none_is_refused_with_the_accepted_ones() {
        assert_eq!(check_level("info,cerebellum_mcp=debug"), Ok(()));
        assert_eq!(check_level("INFO"), Ok(()));
        for level in ["info,cerebellum=loud", "loud", "", "info,,debug", "info}\nx"] {
            assert!(check_level(level).unwrap_err().contains("debug"), "{level:?}");
        }
    }
}
