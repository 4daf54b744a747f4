use cerebellum_mcp::{CallContext, Progress, ToolServer};
use cerebellum_wire::arguments;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

struct Silent;

impl Progress for Silent {
    fn report(&self, _done: f64, _total: Option<f64>, _message: &str) {}
}

/// The context of a caller who waits and wants no progress.
pub(crate) fn context() -> CallContext {
    CallContext {
        caller: cerebellum_mcp::Caller::default(),
        cancelled: CancellationToken::new(),
        progress: Box::new(Silent),
    }
}

/// Calls a tool as the MCP layer does, and holds the answer against the tool's schema and the limit of 20 kB. Answers the
/// JSON, and whether it is the protocol's error.
pub(crate) async fn call(server: &dyn ToolServer, tool: &str, given: &Value) -> (Value, bool) {
    call_with(server, tool, given, &context()).await
}

/// [`call`] with a context of one's own.
pub(crate) async fn call_with(
    server: &dyn ToolServer,
    tool: &str,
    given: &Value,
    context: &CallContext,
) -> (Value, bool) {
    let spec = server.tools().iter().find(|spec| spec.name == tool).expect("the test names a tool");
    let prepared = arguments::prepare(spec, given.as_object().cloned());
    assert_eq!(prepared.warnings, Vec::<String>::new());
    let (answer, is_error) = server.call(tool, prepared.arguments, context).await.into_parts();
    let answer = Value::Object(answer);
    let validator =
        jsonschema::validator_for(spec.output_schema.as_ref().expect("these tools have one")).expect("a schema");
    let faults: Vec<String> =
        validator.iter_errors(&answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
    assert_eq!(faults, Vec::<String>::new(), "{tool}: {answer}");
    let bytes = serde_json::to_string_pretty(&answer).expect("it is JSON").len();
    let compact = answer.to_string().len();
    assert!(compact < 18_000, "{tool} answered {compact} bytes ({bytes} indented)");
    (answer, is_error)
}

/// Lets everything that is ready run.
pub(crate) async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}
