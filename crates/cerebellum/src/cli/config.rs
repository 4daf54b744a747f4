use std::path::Path;

use serde_json::{Value, json};

use super::{ConfigArgs, ConfigCommand, print};
use crate::config::{self, Environment, Existing, InitError, Loaded, Lookup, Row};
use crate::exit::{Exit, Failure};

/// Shows, checks or writes the configuration that `--config` and the variables pick.
pub fn run(args: &ConfigArgs, config: Option<&Path>, environment: &Environment) -> Result<Exit, Failure> {
    let load = || config::load(&Lookup { config, working_folder: Path::new(""), environment });
    match &args.command {
        ConfigCommand::Init { folder, force } => {
            init(folder, if *force { Existing::Overwrite } else { Existing::Keep })
        }
        ConfigCommand::Show { json } => {
            let loaded = load()?;
            print(&if *json { as_json(&loaded).to_string() } else { as_text(&loaded) });
            Ok(Exit::Ok)
        }
        ConfigCommand::Check => {
            let loaded = load()?;
            print(&format!("the configuration is sound: {}", loaded.files.first().map_or("", |file| &**file)));
            Ok(Exit::Ok)
        }
    }
}

fn init(folder: &Path, existing: Existing) -> Result<Exit, Failure> {
    let written = config::init(folder, existing).map_err(|error| match &error {
        InitError::Exists(_) => Failure::usage(error.to_string()),
        InitError::Write { .. } => Failure::failed(error.to_string()),
    })?;
    print(&format!(
        "wrote {} files into {}; change them, then run: cerebellum config check",
        written.len(),
        folder.display()
    ));
    Ok(Exit::Ok)
}

fn as_text(loaded: &Loaded) -> String {
    let mut table = comfy_table::Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["setting", "value", "from", "variables"]);
    for Row { setting, value, place, variables } in &loaded.rows {
        table.add_row([setting.clone(), value.clone(), place.to_string(), variables.join(", ")]);
    }
    format!("{table}\n\nstate folder: {}", loaded.settings.state_folder.display())
}

fn as_json(loaded: &Loaded) -> Value {
    let rows = loaded.rows.iter().map(|row| {
        json!({"setting": row.setting, "value": row.value, "file": &*row.place.file, "line": row.place.line, "variables": row.variables})
    });
    json!({
        "files": loaded.files.iter().map(|file| &**file).collect::<Vec<_>>(),
        "settings": rows.collect::<Vec<_>>(),
        "state_folder": loaded.settings.state_folder,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_says_where_it_comes_from_and_hides_secrets() {
        let environment = Environment::of([("RVC_EVENT_SECRET", "a-secret-of-the-test-0123456789")]);
        let loaded =
            config::load(&Lookup { config: None, working_folder: Path::new("/"), environment: &environment }).unwrap();
        for shown in [as_text(&loaded), as_json(&loaded).to_string()] {
            assert!(shown.contains("embedded:ros/zenoh.yaml") && shown.contains("RVC_EVENT_SECRET"), "{shown}");
            assert!(!shown.contains("a-secret-of-the-test"), "{shown}");
        }
    }
}
