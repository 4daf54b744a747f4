use cerebellum_mcp::attach::{CallError, RemoteTool};
use clap::Args;
use serde_json::{Value, json};

use super::print;
use super::target::{self, TargetArgs};
use crate::exit::{Exit, Failure};

/// Arguments of `tools`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum tools http://127.0.0.1:9201/mcp\n  cerebellum tools http://127.0.0.1:9202/sse --json"
)]
pub struct ToolsArgs {
    /// Where the server is.
    #[command(flatten)]
    pub target: TargetArgs,
    /// Print the schemas too, as JSON
    #[arg(long)]
    pub json: bool,
}

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
        print(&format!(
            "{} {}, {} tools\n\n{}",
            server.name,
            server.version,
            tools.len(),
            table(&tools, comfy_table::Table::new().width())
        ));
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

/// A terminal that says it is narrower than this does not know.
const NARROWEST: u16 = 40;
/// How wide the table is then.
const WIDTH: u16 = 100;

fn table(tools: &[RemoteTool], terminal: Option<u16>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING).set_content_arrangement(comfy_table::ContentArrangement::Dynamic);
    table.set_header(["tool", "arguments", "what it does"]);
    for tool in tools {
        table.add_row([tool.name.clone(), arguments(&tool.input_schema), first_sentence(&tool.description)]);
    }
    if let Some(width) = terminal {
        table.set_width(if width < NARROWEST { WIDTH } else { width });
    }
    // A name that is broken can be neither searched nor copied.
    if let Some(names) = table.column_mut(0) {
        names.set_constraint(comfy_table::ColumnConstraint::ContentWidth);
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
    fn names_are_whole_however_wide_the_terminal_says_it_is() {
        let tool = RemoteTool {
            name: "wait_for_object_in_view".into(),
            title: None,
            description: "Waits until an object that is named comes into view, and says where it is then.".into(),
            input_schema: json!({"properties": {"query": {}, "timeout_s": {}}, "required": ["query"]}),
            output_schema: None,
            read_only: true,
            blocking: true,
        };
        for width in [None, Some(0), Some(1), Some(40), Some(80), Some(200)] {
            let shown = table(std::slice::from_ref(&tool), width);
            assert!(shown.contains("wait_for_object_in_view"), "{width:?}:\n{shown}");
            let widest = shown.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(width.is_none_or(|width| width < 80 || widest <= usize::from(width)), "{width:?}:\n{shown}");
        }
    }

    #[test]
    fn a_description_is_cut_at_its_first_sentence() {
        assert_eq!(first_sentence("Call this to look. It answers JSON.\nMore."), "Call this to look");
        assert_eq!(first_sentence(""), "");
    }
}
