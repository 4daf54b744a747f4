use cerebellum_mcp::attach::{CallError, RemoteTool};
use serde_json::{Value, json};

use super::{ToolsArgs, print, target};
use crate::exit::{Exit, Failure};

/// Lists the tools of a server: names, arguments and first sentences for people, everything with `--json`.
pub async fn run(args: &ToolsArgs) -> Result<Exit, Failure> {
    let client = target::connect(&args.target).await?;
    let tools = client.list_tools().await;
    let server = client.server();
    client.close().await;
    let tools = tools.map_err(|error| {
        let exit = if error == CallError::Lost { Exit::Unavailable } else { Exit::Failed };
        Failure::new(exit, format!("the list of tools: {error}"))
    })?;
    if args.json {
        let tools: Vec<Value> = tools.iter().map(to_json).collect();
        print(&json!({"server": server.name, "version": server.version, "tools": tools}).to_string());
    } else {
        print(&format!("{} {}, {} tools\n\n{}", server.name, server.version, tools.len(), table(&tools)));
    }
    Ok(Exit::Ok)
}

fn to_json(tool: &RemoteTool) -> Value {
    json!({
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "read_only": tool.read_only,
        "blocking": tool.blocking,
    })
}

fn table(tools: &[RemoteTool]) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_header(["tool", "arguments", "what it does"]);
    for tool in tools {
        table.add_row([tool.name.clone(), arguments(&tool.input_schema), first_sentence(&tool.description)]);
    }
    table.to_string()
}

/// `query, side?`: the names of the arguments, those that may be left out with a question mark.
fn arguments(schema: &Value) -> String {
    let required: Vec<&str> = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let names = schema["properties"].as_object().into_iter().flat_map(|properties| properties.keys());
    let shown = names
        .filter(|name| *name != "response_text")
        .map(|name| if required.contains(&name.as_str()) { name.clone() } else { format!("{name}?") });
    shown.collect::<Vec<_>>().join(", ")
}

fn first_sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    line.split_once(". ").map_or(line, |(sentence, _)| sentence).trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_may_be_left_out_are_marked() {
        let schema = json!({"properties": {"query": {}, "side": {}, "response_text": {}}, "required": ["query"]});
        assert_eq!(arguments(&schema), "query, side?");
        assert_eq!(arguments(&json!({"type": "object"})), "");
    }

    #[test]
    fn a_description_is_cut_at_its_first_sentence() {
        assert_eq!(first_sentence("Call this to look. It answers JSON.\nMore."), "Call this to look");
        assert_eq!(first_sentence(""), "");
    }
}
