use std::sync::Arc;

use cerebellum_wire::{ToolClass, ToolSpec};
use rmcp::model::{
    Implementation, JsonObject, MetaObject, Resource, ServerCapabilities, ServerConfig, Tool, ToolAnnotations,
};
use serde_json::Value;

use crate::tool_server::{Identity, ResourceSpec};

/// The key in a tool's `_meta` that says it is slow.
const BLOCKING: &str = "cerebellum/blocking";

/// Who the server is and what it can do. Only what is there is advertised.
pub(crate) fn server(identity: &Identity, has_resources: bool) -> ServerConfig {
    let mut capabilities = ServerCapabilities::builder().enable_tools().build();
    if has_resources {
        capabilities.resources = ServerCapabilities::builder().enable_resources().build().resources;
    }
    let who = Implementation::new(identity.name, env!("CARGO_PKG_VERSION")).with_title(identity.title);
    ServerConfig::new(capabilities).with_server_info(who).with_instructions(identity.instructions.clone())
}

/// A tool as the protocol lists it.
pub(crate) fn tool(spec: &ToolSpec) -> Tool {
    let mut tool = Tool::new(spec.name, spec.description, Arc::new(object(&spec.input_schema)))
        .with_title(spec.title)
        .with_annotations(annotations(spec));
    if let Some(schema) = &spec.output_schema {
        tool = tool.with_raw_output_schema(Arc::new(object(schema)));
    }
    if spec.blocking {
        let mut meta = JsonObject::new();
        meta.insert(BLOCKING.to_owned(), Value::Bool(true));
        tool = tool.with_meta(MetaObject(meta));
    }
    tool
}

/// A resource as the protocol lists it.
pub(crate) fn resource(spec: &ResourceSpec) -> Resource {
    Resource::new(spec.uri, spec.name).with_description(spec.description).with_mime_type(spec.mime_type)
}

fn annotations(spec: &ToolSpec) -> ToolAnnotations {
    let hints = ToolAnnotations::with_title(spec.title).open_world(false);
    match spec.class {
        ToolClass::Read => hints.read_only(true),
        ToolClass::Write => hints.read_only(false).destructive(false),
        ToolClass::Motion => hints.read_only(false).destructive(true),
    }
}

fn object(schema: &Value) -> JsonObject {
    match schema {
        Value::Object(object) => object.clone(),
        other => unreachable!("the schema of a tool is an object, not {other}"),
    }
}
