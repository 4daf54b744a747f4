use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

use crate::tool_server::ToolServer;

/// Upper edges of the duration buckets, in seconds: from a table look-up to a long drive.
const SECONDS: [f64; 10] = [0.0005, 0.002, 0.01, 0.05, 0.2, 1.0, 5.0, 20.0, 60.0, 300.0];

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CallLabels {
    tool: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ToolLabels {
    tool: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RefusalLabels {
    reason: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct SessionLabels {
    transport: &'static str,
}

/// What `/metrics` tells.
pub(crate) struct Metrics {
    registry: Registry,
    /// What the server counts itself, under its name.
    own: Option<Registry>,
    calls: Family<CallLabels, Counter>,
    durations: Family<ToolLabels, Histogram, fn() -> Histogram>,
    refusals: Family<RefusalLabels, Counter>,
    sessions: Family<SessionLabels, Gauge<f64, AtomicU64>>,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("mcp");
        let calls = Family::default();
        let durations = Family::new_with_constructor((|| Histogram::new(SECONDS)) as fn() -> Histogram);
        let refusals = Family::default();
        let sessions = Family::default();
        registry.register("tool_calls", "Tool calls that ended, by outcome", calls.clone());
        registry.register("tool_call_seconds", "How long tool calls took", durations.clone());
        registry.register("requests_refused", "Requests turned away before they reached a tool", refusals.clone());
        registry.register("sessions", "Open sessions", sessions.clone());
        Self { registry, own: None, calls, durations, refusals, sessions }
    }
}

impl Metrics {
    /// With what the server counts itself.
    pub(crate) fn of(server: Arc<dyn ToolServer>) -> Self {
        let mut own = Registry::with_prefix(server.identity().name);
        own.register_collector(Box::new(Own(server)));
        Self { own: Some(own), ..Self::default() }
    }

    /// A call ended. `tool` is one of the server's own names, so the number of series is bounded.
    pub(crate) fn called(&self, tool: &str, outcome: &'static str, took: Duration) {
        self.calls.get_or_create(&CallLabels { tool: tool.to_owned(), outcome }).inc();
        self.durations.get_or_create(&ToolLabels { tool: tool.to_owned() }).observe(took.as_secs_f64());
    }

    /// A request was turned away.
    pub(crate) fn refused(&self, reason: &'static str) {
        self.refusals.get_or_create(&RefusalLabels { reason }).inc();
    }

    /// How many sessions are open on a transport.
    pub(crate) fn sessions(&self, transport: &'static str, open: usize) {
        self.sessions.get_or_create(&SessionLabels { transport }).set(open as f64);
    }

    /// The text of `/metrics`.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let written = encode_registry(&mut text, &self.registry)
            .and_then(|()| self.own.iter().try_for_each(|own| encode_registry(&mut text, own)))
            .and_then(|()| encode_eof(&mut text));
        if let Err(error) = written {
            tracing::error!(%error, "metrics could not be written");
        }
        text
    }
}

/// Asks the server each time `/metrics` is read.
struct Own(Arc<dyn ToolServer>);

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Own")
    }
}

impl Collector for Own {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        for count in self.0.counts() {
            let counter = ConstCounter::new(count.value);
            counter.encode(encoder.encode_descriptor(count.name, count.help, None, MetricType::Counter)?)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_outcome() {
        let metrics = Metrics::default();
        metrics.called("look", "done", Duration::from_millis(3));
        metrics.called("look", "done", Duration::from_millis(3));
        metrics.refused("host");
        let text = metrics.text();
        assert!(text.contains("mcp_tool_calls_total{tool=\"look\",outcome=\"done\"} 2"), "{text}");
        assert!(text.contains("mcp_requests_refused_total{reason=\"host\"} 1"), "{text}");
    }
}
