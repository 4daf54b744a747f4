use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cerebellum_wire::arguments::{self, Prepared};
use cerebellum_wire::{ToolClass, ToolError, ToolOutcome, ToolSpec};
use futures::FutureExt;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, CustomRequest, CustomResult, ErrorCode,
    ErrorData, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerConfig,
    Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::calls::{Calls, StreamLink};
use crate::serve::metrics::Metrics;
use crate::shown::shown;
use crate::tool_server::{CallContext, ToolServer};

/// Who calls.
mod caller;
/// Tools, resources and the server itself as the protocol describes them.
mod describe;
/// From a tool's reports to progress notifications.
mod progress;

/// A result larger than this, in bytes of text, fills too much of a planner's context.
const LARGE_RESULT: usize = 20_000;
/// How long a cancelled call may take to end by itself; then its future is dropped.
const STOP_WITHIN: Duration = Duration::from_secs(1);

/// A [`ToolServer`] as the protocol sees it. Cheap to clone: every session holds one.
#[derive(Clone)]
pub(crate) struct Adapter(Arc<Inner>);

struct Inner {
    server: Arc<dyn ToolServer>,
    info: ServerConfig,
    tools: Vec<Tool>,
    places: HashMap<&'static str, usize>,
    resources: Vec<Resource>,
    calls: Calls,
    metrics: Arc<Metrics>,
    grace: Duration,
}

impl Adapter {
    /// Describes the server once; what it lists does not change for its whole life. `grace` is how long a motion goes on
    /// without a stream to its caller.
    pub(crate) fn new(server: Arc<dyn ToolServer>, calls: Calls, metrics: Arc<Metrics>, grace: Duration) -> Self {
        let resources: Vec<_> = server.resources().iter().map(describe::resource).collect();
        let info = describe::server(&server.identity(), !resources.is_empty());
        let tools = server.tools().iter().map(describe::tool).collect();
        let places = server.tools().iter().enumerate().map(|(place, spec)| (spec.name, place)).collect();
        Self(Arc::new(Inner { server, info, tools, places, resources, calls, metrics, grace }))
    }

    fn spec(&self, name: &str) -> Option<&ToolSpec> {
        self.0.places.get(name).map(|&place| &self.0.server.tools()[place])
    }

    async fn run(
        &self,
        name: &str,
        arguments: Result<Option<Map<String, Value>>, ToolError>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let Some(spec) = self.spec(name) else { return Err(self.unknown(name)) };
        let span = tracing::info_span!("tool_call", tool = spec.name, request_id = shown(&context.id.to_string()));
        async {
            let started = Instant::now();
            let outcome = match arguments {
                Ok(arguments) => self.outcome(spec, arguments, context).await,
                Err(error) => ToolOutcome::failed(&error, &()),
            };
            let took = started.elapsed();
            let ending = Ending::of(&outcome);
            self.0.metrics.called(spec.name, ending.word(), took);
            tracing::info!(outcome = ending.word(), duration_ms = took.as_millis() as u64, "tool call ended");
            Ok(result(spec, outcome))
        }
        .instrument(span)
        .await
    }

    async fn outcome(
        &self,
        spec: &ToolSpec,
        arguments: Option<Map<String, Value>>,
        context: &RequestContext<RoleServer>,
    ) -> ToolOutcome {
        let Prepared { arguments, warnings } = arguments::prepare(spec, arguments);
        let cancelled = context.ct.child_token();
        let (progress, mut forward) = progress::of_call(context);
        let call_context = CallContext { caller: caller::of(context), cancelled: cancelled.clone(), progress };
        let _counted = self.0.calls.started(spec.class);
        let link = context.extensions.get::<StreamLink>();
        let mut outcome = tokio::select! {
            outcome = AssertUnwindSafe(self.0.server.call(spec.name, arguments, &call_context)).catch_unwind() => {
                outcome.unwrap_or_else(|_panic| panicked(spec))
            }
            () = self.overdue(spec, &cancelled, link) => cut_off(spec),
            never = forward.run() => match never {},
        };
        // The tool may hold its context no longer, so nothing more can be queued.
        drop(call_context);
        forward.flush().await;
        for warning in warnings {
            outcome.warn(warning);
        }
        outcome
    }

    /// Tells the call when its caller is gone or the server stops, and returns when the call has had its time to end.
    async fn overdue(&self, spec: &ToolSpec, cancelled: &CancellationToken, link: Option<&StreamLink>) {
        let guarded = link.filter(|_| spec.class == ToolClass::Motion);
        tokio::select! {
            () = cancelled.cancelled() => {}
            () = self.0.calls.stopped(spec.class) => {}
            () = lost(guarded, self.0.grace) => tracing::warn!("the caller of a motion is gone, stopping it"),
        }
        cancelled.cancel();
        tokio::time::sleep(STOP_WITHIN).await;
    }

    fn unknown(&self, name: &str) -> ErrorData {
        let known: Vec<_> = self.0.tools.iter().map(|tool| tool.name.as_ref()).collect();
        ErrorData::invalid_params(
            format!("unknown tool {:?}; this server has: {}", shown(name), known.join(", ")),
            Some(json!({"known": known})),
        )
    }
}

impl ServerHandler for Adapter {
    fn get_info(&self) -> ServerConfig {
        self.0.info.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.0.places.get(name).map(|&place| self.0.tools[place].clone())
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.0.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.run(&request.name, Ok(request.arguments), &context).await.map(CallToolResponse::from)
    }

    /// A call whose `arguments` are no object does not parse as a call. Planners are known to send them as one JSON text:
    /// that is accepted; anything else gets a readable answer.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        if request.method != "tools/call" {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, shown(&request.method), None));
        }
        let mut params = request.params.unwrap_or_default();
        let Some(name) = params.get("name").and_then(Value::as_str).map(str::to_owned) else {
            return Err(ErrorData::invalid_params("tools/call needs params with the tool's name", None));
        };
        let arguments = object_of(params.get_mut("arguments").map(Value::take).unwrap_or_default());
        let modern = context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28);
        let mut result = self.run(&name, arguments, &context).await?;
        if !modern {
            result.result_type = None;
        }
        serde_json::to_value(result)
            .map(CustomResult)
            .map_err(|error| ErrorData::internal_error(format!("the answer is no JSON: {error}"), None))
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if self.0.resources.is_empty() {
            return Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "resources/list", None));
        }
        Ok(ListResourcesResult::with_all_items(self.0.resources.clone()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let read = self.0.server.read_resource(&request.uri);
        let text = tokio::select! {
            text = AssertUnwindSafe(read).catch_unwind() => text.map_err(|_panic| {
                ErrorData::internal_error(format!("reading {} failed inside the server; see its log", shown(&request.uri)), None)
            })?,
            () = context.ct.cancelled() => None,
        };
        let Some(text) = text else {
            let known: Vec<_> = self.0.resources.iter().map(|resource| resource.uri.as_str()).collect();
            return Err(ErrorData::resource_not_found(
                format!("no resource {:?}; this server has: {}", shown(&request.uri), known.join(", ")),
                Some(json!({"uri": shown(&request.uri)})),
            ));
        };
        let mime_type =
            self.0.resources.iter().find(|known| known.uri == request.uri).and_then(|known| known.mime_type.clone());
        let contents = ResourceContents::TextResourceContents { uri: request.uri, mime_type, text, meta: None };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}

async fn lost(link: Option<&StreamLink>, grace: Duration) {
    match link {
        Some(link) => link.lost(grace).await,
        None => std::future::pending().await,
    }
}

fn object_of(arguments: Value) -> Result<Option<Map<String, Value>>, ToolError> {
    let parsed = match &arguments {
        Value::Null => return Ok(None),
        Value::String(text) if text.trim().is_empty() => return Ok(None),
        Value::String(text) => serde_json::from_str(text).unwrap_or_default(),
        _ => arguments,
    };
    match parsed {
        Value::Object(object) => Ok(Some(object)),
        other => Err(ToolError::new(
            "bad_arguments",
            format!("arguments must be a JSON object, not {}", kind(&other)),
            "Send the arguments as an object, such as {\"name\": \"value\"}.",
        )),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "text that is no JSON, or null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn panicked(spec: &ToolSpec) -> ToolOutcome {
    tracing::error!("a tool panicked; the server goes on");
    let error = ToolError::new(
        "internal_fault",
        format!("{} failed inside the server", spec.name),
        "Try once more; if it fails again, the server's log says where.",
    );
    ToolOutcome::failed(&error, &())
}

fn cut_off(spec: &ToolSpec) -> ToolOutcome {
    tracing::warn!("a cancelled call did not end by itself, dropping it");
    let error =
        ToolError::new("cancelled", format!("{} was cancelled", spec.name), "Call it again if it is still wanted.");
    ToolOutcome::failed(&error, &())
}

#[derive(Clone, Copy)]
enum Ending {
    Done,
    Declined,
    Failed,
}

impl Ending {
    fn of(outcome: &ToolOutcome) -> Self {
        match (outcome.is_error(), outcome.is_ok()) {
            (true, _) => Self::Failed,
            (false, true) => Self::Done,
            (false, false) => Self::Declined,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Declined => "declined",
            Self::Failed => "failed",
        }
    }
}

fn result(spec: &ToolSpec, outcome: ToolOutcome) -> CallToolResult {
    let (data, failed) = outcome.into_parts();
    let data = Value::Object(data);
    let text = data.to_string();
    if spec.output_schema.is_some() && text.len() > LARGE_RESULT {
        tracing::warn!(
            bytes = text.len(),
            limit = LARGE_RESULT,
            "a tool's result is larger than a planner should read"
        );
    }
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.is_error = Some(failed);
    result.structured_content = spec.output_schema.is_some().then_some(data);
    result
}
