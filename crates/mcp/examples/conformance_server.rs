//! The fixtures of `@modelcontextprotocol/conformance` behind this crate's own router, guard, sessions and drop guard:
//! `conformance_server [PORT]`, then `/mcp` on 127.0.0.1. How to run the suite stands in `conformance/README.md`.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cerebellum_mcp::fixture::serve_handler;
use cerebellum_mcp::serve::{ServeConfig, Transport};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// One red pixel as PNG.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// No samples at all as WAV.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/// Between two reports of progress.
const STEP: Duration = Duration::from_millis(50);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let port = std::env::args().nth(1).map_or(Ok(0), |port| port.parse())?;
    let config = ServeConfig { transport: Transport::Http, port, ..ServeConfig::default() };
    let running = serve_handler(Fixtures::default(), vec![], config, CancellationToken::new()).await?;
    eprintln!("listening on {}", running.address.expect("HTTP has an address"));
    running.finished().await;
    Ok(())
}

#[derive(Clone)]
struct Fixtures {
    tools: Arc<Vec<Tool>>,
}

impl Default for Fixtures {
    fn default() -> Self {
        let nothing = json!({"type": "object", "properties": {}});
        let plain = [
            "test_simple_text",
            "test_image_content",
            "test_audio_content",
            "test_embedded_resource",
            "test_multiple_content_types",
            "test_error_handling",
            "test_tool_with_progress",
            "test_missing_capability",
            "test_streaming_elicitation",
            "test_logging_tool",
            "test_reconnection",
        ];
        let mut tools: Vec<_> = plain.iter().map(|name| tool(name, &nothing)).collect();
        tools.push(tool("json_schema_2020_12_tool", &schema_2020_12()));
        let region = json!({"type": "string", "description": "Sent as a header too", "x-mcp-header": "Region"});
        tools.push(tool(
            "test_custom_header",
            &json!({"type": "object", "properties": {"region": region}, "required": ["region"]}),
        ));
        Self { tools: Arc::new(tools) }
    }
}

fn tool(name: &'static str, schema: &Value) -> Tool {
    let schema = schema.as_object().expect("schemas are objects").clone();
    Tool::new(name, "A fixture of the conformance suite", Arc::new(schema))
}

fn schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {"address": {"$anchor": "addressDef", "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"}
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false
    })
}

fn content(name: &str) -> Option<Vec<ContentBlock>> {
    let resource = |uri: &str, kind: &str, text: &str| {
        ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(kind))
    };
    Some(match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => {
            vec![resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
        }
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ],
        "test_tool_with_progress" | "json_schema_2020_12_tool" | "test_custom_header" | "test_missing_capability"
        // The rest is only there so that the suite can see that nothing but an answer comes from them.
        | "test_streaming_elicitation" | "test_logging_tool" | "test_reconnection" => {
            vec![ContentBlock::text("done")]
        }
        _ => return None,
    })
}

async fn report_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let report = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        if let Err(error) = context.peer.notify_progress(report).await {
            eprintln!("progress was not sent: {error}");
        }
        tokio::time::sleep(STEP).await;
    }
}

impl ServerHandler for Fixtures {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
        ServerConfig::new(capabilities).with_server_info(Implementation::new("conformance", env!("CARGO_PKG_VERSION")))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.tools.iter().find(|tool| tool.name == name).cloned()
    }

    async fn list_tools(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.to_vec()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if request.name == "test_error_handling" {
            let text = ContentBlock::text("This tool intentionally returns an error for testing");
            return Ok(CallToolResult::error(vec![text]).into());
        }
        let Some(content) = content(&request.name) else {
            return Err(ErrorData::invalid_params(format!("unknown tool {:?}", request.name), None));
        };
        let sampling = context.client_capabilities().is_some_and(|declared| declared.sampling.is_some());
        if request.name == "test_missing_capability" && !sampling {
            let required = serde_json::from_value(json!({"sampling": {}})).expect("the name of a capability");
            return Err(ErrorData::missing_required_client_capability(required));
        }
        if request.name == "test_tool_with_progress" {
            report_progress(&context).await;
        }
        Ok(CallToolResult::success(content).into())
    }

    async fn list_resources(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |uri: &str, name: &str, kind: &str| {
            Resource::new(uri, name).with_description("A fixture of the conformance suite").with_mime_type(kind)
        };
        Ok(ListResourcesResult::with_all_items(vec![
            resource("test://static-text", "static text", "text/plain"),
            resource("test://static-binary", "static binary", "image/png"),
        ]))
    }

    async fn list_resource_templates(
        &self,
        _page: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template =
            ResourceTemplate::new("test://template/{id}/data", "template").with_mime_type("application/json");
        Ok(ListResourceTemplatesResult::with_all_items(vec![template]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri.as_str();
        let template = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (uri, template) {
            ("test://static-text", _) => {
                ResourceContents::text("This is the content of the static text resource.", uri)
                    .with_mime_type("text/plain")
            }
            ("test://static-binary", _) => ResourceContents::blob(PNG, uri).with_mime_type("image/png"),
            (_, Some(id)) => {
                let text = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                ResourceContents::text(text.to_string(), uri).with_mime_type("application/json")
            }
            _ => return Err(ErrorData::resource_not_found(format!("no resource {uri:?}"), Some(json!({"uri": uri})))),
        };
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
