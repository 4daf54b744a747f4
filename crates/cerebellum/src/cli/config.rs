use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde_json::{Value, json};

use cerebellum_ros::zenoh::RouterRole;

use super::{GlobalArgs, ServingArgs, print};
use crate::compose::{self, OnBus};
use crate::config::{self, Camera, Environment, Existing, InitError, Loaded, Lookup, Ros, Row, Settings, Vision};
use crate::exit::{Exit, Failure};

/// Arguments of `config`.
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  cerebellum config show\n  CEREBELLUM_DEPLOYMENT=robot cerebellum config check\n  cerebellum config init ./config"
)]
pub struct ConfigArgs {
    /// What to do.
    #[command(subcommand)]
    pub command: ConfigCommand,
}

/// What `config` can do.
#[derive(Clone, Debug, Subcommand)]
pub enum ConfigCommand {
    /// Write the shipped configuration into a folder, to be changed
    Init {
        /// The folder
        #[arg(default_value = "config")]
        folder: PathBuf,
        /// Overwrite files that are there
        #[arg(long)]
        force: bool,
    },
    /// Print every value and the file and line it comes from; secrets are redacted
    Show {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Find everything that is wrong; exit 64 if something is
    Check,
}

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
            check(&loaded.settings, environment)?;
            print(&format!("the configuration is sound: {}", loaded.files.first().map_or("", |file| &**file)));
            Ok(Exit::Ok)
        }
    }
}

/// Everything that a start of any of the programs would look at, besides ports and who else is on the bus.
fn check(settings: &Settings, environment: &Environment) -> Result<(), Failure> {
    let mut faults = Vec::new();
    let mut note = |outcome: Result<(), Failure>| faults.extend(outcome.err().map(|failure| failure.message));
    if let Vision::Geometry { things } = &settings.vision {
        note(compose::read_things(things).map(drop));
    }
    if let Camera::Folder(folder) = &settings.camera {
        note(compose::open_folder(folder, &compose::host_clock()).map(drop));
    }
    if let Ros::Zenoh(zenoh) = &settings.ros {
        let who = OnBus { node: &settings.vision_node.name, router: RouterRole::Never, join: &[] };
        let config = compose::zenoh_config(zenoh, environment, who);
        note(config.and_then(|config| config.check().map_err(|error| Failure::usage(error.to_string()))));
    }
    note(compose::push(settings).map(drop));
    note(ServingArgs::default().resolve(environment, 9201).map(drop));
    note(GlobalArgs::default().log_over(&settings.log).map(drop));
    match compose::catalogs(settings) {
        Ok(catalogs) => faults.extend(catalogs.current().faults().iter().map(ToString::to_string)),
        Err(failure) => faults.push(failure.message),
    }
    if faults.is_empty() { Ok(()) } else { Err(Failure::usage(faults.join("\n"))) }
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
    fn a_check_finds_what_a_start_would_with_file_and_line() {
        let folder = tempfile::tempdir().unwrap();
        let catalog = folder.path().join("mine.yaml");
        std::fs::write(
            &catalog,
            "templates:\n  - name: a\n    description: d\n    params: []\n    skill: {mode: paint}\n",
        )
        .unwrap();
        config::init(folder.path(), Existing::Overwrite).unwrap();
        std::fs::write(folder.path().join("vision/things.yaml"), "things: [\n").unwrap();
        let root = folder.path().join("config.yaml");
        let text = std::fs::read_to_string(&root).unwrap().replace("camera/sim.yaml", "camera/folder.yaml");
        std::fs::write(&root, text).unwrap();
        let environment = Environment::of([
            ("SKILLS_CATALOG", catalog.to_str().unwrap()),
            ("MCP_PORT", "seventy"),
            ("CEREBELLUM_PICTURES", "/nowhere/at/all"),
            ("ZENOH_SESSION_CONFIG_URI", "/nowhere/zenoh.json5"),
        ]);
        let args = ConfigArgs { command: ConfigCommand::Check };
        let failure = run(&args, Some(&root), &environment).unwrap_err();
        assert_eq!(failure.exit, Exit::Usage);
        for words in ["mine.yaml:", "paint", "things.yaml", "MCP_PORT", "/nowhere/at/all", "zenoh.json5"] {
            assert!(failure.message.contains(words), "{words}: {failure}");
        }
        assert_eq!(run(&args, None, &Environment::default()).unwrap(), Exit::Ok);
    }

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
