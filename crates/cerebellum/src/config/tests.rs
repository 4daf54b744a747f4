use std::path::{Path, PathBuf};

use secrecy::ExposeSecret;

use super::*;

/// A folder with files, and variables: what a configuration is read from.
struct Given {
    folder: tempfile::TempDir,
    environment: Environment,
}

impl Given {
    fn files(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = ("config.yaml", embedded::find("config.yaml").unwrap().text);
        let is_bare = !files.is_empty() && files.iter().all(|(name, _)| *name != root.0);
        for (name, text) in files.iter().chain(is_bare.then_some(&root)) {
            let path = folder.path().join("config").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Self { folder, environment: Environment::default() }
    }

    fn variables(mut self, variables: &[(&str, &str)]) -> Self {
        self.environment = Environment::of(variables.iter().copied());
        self
    }

    fn load_with(&self, config: Option<&str>) -> Result<Loaded, ConfigFaults> {
        let config = config.map(PathBuf::from);
        load(&Lookup { config: config.as_deref(), working_folder: self.folder.path(), environment: &self.environment })
    }

    fn load(&self) -> Result<Loaded, ConfigFaults> {
        self.load_with(Some("config"))
    }

    /// The faults, with the folder of the test cut from the front.
    fn faults(&self) -> Vec<String> {
        let Err(faults) = self.load() else { panic!("a faulty configuration was accepted") };
        let folder = format!("{}/config/", self.folder.path().display());
        faults.0.iter().map(|fault| fault.to_string().replace(&folder, "")).collect()
    }
}

fn root_with(line: &str) -> String {
    let shipped = embedded::find("config.yaml").unwrap().text;
    let key = line.split(':').next().unwrap();
    shipped
        .lines()
        .map(|old| if old.starts_with(&format!("{key}:")) { line } else { old })
        .collect::<Vec<_>>()
        .join("\n")
}

fn check(files: &[(&str, &str)], variables: &[(&str, &str)], expected: &[&str]) {
    let faults = Given::files(files).variables(variables).faults();
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        for part in expected.split(" | ") {
            assert!(fault.contains(part), "{part:?} is not in {fault:?}");
        }
    }
}

#[test]
fn the_shipped_configuration_is_sound_wherever_the_program_starts() {
    let environment = Environment::default();
    let loaded = load(&Lookup { config: None, working_folder: Path::new("/"), environment: &environment }).unwrap();
    assert!(loaded.files.iter().all(|file| file.starts_with("embedded:")), "{:?}", loaded.files);
    let settings = loaded.settings;
    let zenoh = Zenoh { router: None, endpoint: "tcp/127.0.0.1:7447".into(), domain_id: 0 };
    assert_eq!(settings.ros, Ros::Zenoh(zenoh));
    assert!(matches!(settings.skill_control.catalog, Resource::Embedded(file) if file.name == "skills.yaml"));
    assert!(matches!(settings.vision, Vision::Geometry { things: Resource::Embedded(_) }));
    assert_eq!(settings.buffer.history_depth, 10);
    assert!(settings.events.callback_url.is_none() && settings.events.secret.is_none());
}

#[test]
fn an_adapter_is_swapped_by_one_line() {
    let given = Given::files(&[("config.yaml", &root_with("vision: !include vision/ground_truth.yaml"))]);
    let settings = given.load().unwrap().settings;
    assert_eq!(settings.vision, Vision::GroundTruth);
    assert!(matches!(settings.ros, Ros::Zenoh(_)));
    let given = Given::files(&[("config.yaml", &root_with("ros: !include ros/mem.yaml"))]);
    assert_eq!(given.load().unwrap().settings.ros, Ros::Mem);
}

#[test]
fn a_preset_is_picked_by_a_variable_or_by_its_file() {
    let given = Given::files(&[("config.yaml", "")]).variables(&[("CEREBELLUM_DEPLOYMENT", "robot")]);
    assert_eq!(given.load_with(None).unwrap().settings.robot, Robot::None);
    let own = embedded::find("deployment/test.yaml").unwrap().text;
    let given = Given::files(&[("deployment/lab.yaml", own)]);
    let loaded = given.load_with(Some("config/deployment/lab.yaml")).unwrap();
    assert_eq!((loaded.settings.ros, loaded.root.file.as_str()), (Ros::Mem, "deployment/lab.yaml"));
}

#[test]
fn an_unknown_preset_is_refused_with_the_known_ones() {
    check(&[("deployment/lab.yaml", "")], &[("CEREBELLUM_DEPLOYMENT", "moon")], &["moon | demo, lab, robot, test"]);
    check(&[("config.yaml", "")], &[("CEREBELLUM_DEPLOYMENT", "../../etc/x")], &["no name of a preset"]);
}

#[test]
fn every_shipped_preset_is_sound() {
    for file in embedded::FILES.iter().filter(|file| file.name.starts_with("deployment/")) {
        let root = Root { folder: None, file: file.name.to_owned() };
        load_root(root, Path::new("/"), &Environment::default()).unwrap();
    }
}

#[test]
fn the_order_of_look_up_is_flag_variable_folder_xdg_program() {
    let level = |level: &str| root_with(&format!("log: {{level: {level}}}"));
    let given = Given::files(&[
        ("config.yaml", &level("warn")),
        ("flag/config.yaml", &level("error")),
        ("variable/config.yaml", &level("debug")),
        ("xdg/cerebellum/config.yaml", &level("trace")),
    ]);
    let xdg = given.folder.path().join("config/xdg");
    let xdg = ("XDG_CONFIG_HOME", xdg.to_str().unwrap());
    let level_of = |given: &Given, config: Option<&str>| given.load_with(config).unwrap().settings.log.level;
    let given = given.variables(&[("CEREBELLUM_CONFIG", "config/variable"), xdg]);
    assert_eq!(level_of(&given, Some("config/flag")), "error");
    assert_eq!(level_of(&given, None), "debug");
    let given = given.variables(&[xdg]);
    assert_eq!(level_of(&given, None), "warn");
    std::fs::remove_file(given.folder.path().join("config/config.yaml")).unwrap();
    assert_eq!(level_of(&given, None), "trace");
    assert_eq!(level_of(&given.variables(&[]), None), "info");
}

#[test]
fn all_faults_are_reported_at_once_with_file_and_line() {
    let root = root_with("robot: !include robot/moon.yaml").replace("robot/moon.yaml", "robot/sim.yaml");
    check(
        &[
            ("config.yaml", &format!("{root}\nroobt: 1\n")),
            (
                "ros/zenoh.yaml",
                "zenoh:\n  endpoint: localhost:7447\n  domain_id: 233\n  router: sometimes\n  domian: 1\n",
            ),
            ("camera/sim.yaml", "sim:\n  width: 640px\n  rate_hz: 999\n"),
            ("vision/geometry.yaml", "segment:\n  url: x\n"),
            ("services/log.yaml", "level: 5\nformat: xml\n"),
        ],
        &[],
        &[
            "config.yaml:18: roobt | unknown | vision_node",
            "ros/zenoh.yaml:2: ros.zenoh.endpoint | tcp/HOST:PORT",
            "ros/zenoh.yaml:3: ros.zenoh.domain_id | 0 to 232 | 233",
            "ros/zenoh.yaml:4: ros.zenoh.router | sometimes | never, auto, always",
            "ros/zenoh.yaml:5: ros.zenoh.domian | unknown | router, endpoint, domain_id",
            "vision/geometry.yaml:1: vision | segment | geometry, ground_truth",
            "camera/sim.yaml:2: camera.sim.width | 64 to 1920 | 640px",
            "camera/sim.yaml:3: camera.sim.rate_hz | 0.1 to 120",
            "services/log.yaml:1: log.level | text",
            "services/log.yaml:2: log.format | xml | auto, json, pretty",
        ],
    );
}

#[test]
fn a_missing_group_is_named_with_the_line_to_write() {
    check(&[("config.yaml", &root_with("ros:"))], &[], &["ros: is missing or empty | ros: !include ros/zenoh.yaml"]);
}

#[test]
fn what_yaml_refuses_has_file_and_line() {
    check(&[("ros/zenoh.yaml", "zenoh:\n  endpoint: 'open\n")], &[], &["ros/zenoh.yaml:"]);
    check(&[("config.yaml", "ros: a\nros: b\n")], &[], &["config.yaml:2"]);
}

#[test]
fn a_domain_out_of_range_in_a_variable_is_refused_where_it_is_asked_for() {
    check(
        &[("config.yaml", &root_with(""))],
        &[("ROS_DOMAIN_ID", "300")],
        &["embedded:ros/zenoh.yaml | 0 to 232 | ROS_DOMAIN_ID"],
    );
}

#[test]
fn variables_are_put_in_plain_quoted_and_flow_scalars_alike() {
    for scalar in
        ["${oc.env:NAME}", "\"${oc.env:NAME}\"", "'${oc.env:NAME}'", "${NAME:?say a name}", "${oc.env:NONE,node_7}"]
    {
        let line = format!("vision_node: {{name: {scalar}}}");
        let given = Given::files(&[("config.yaml", &root_with(&line))]).variables(&[("NAME", "node_7")]);
        assert_eq!(given.load().unwrap().settings.vision_node.name, "node_7", "{scalar}");
        let line = format!("vision_node:\n  name: {scalar}");
        let given = Given::files(&[("config.yaml", &root_with(&line))]).variables(&[("NAME", "node_7")]);
        assert_eq!(given.load().unwrap().settings.vision_node.name, "node_7", "{scalar}");
    }
    for scalar in ["${oc.env:DEPTH}", "\"${oc.env:DEPTH}\""] {
        let line = format!("buffer: {{history_depth: {scalar}}}");
        let given = Given::files(&[("config.yaml", &root_with(&line))]).variables(&[("DEPTH", "42")]);
        assert_eq!(given.load().unwrap().settings.buffer.history_depth, 42, "{scalar}");
    }
}

#[test]
fn the_value_of_a_variable_is_never_read_as_yaml() {
    let given = Given::files(&[("config.yaml", &root_with("log: {level: ${oc.env:LEVEL}}"))]);
    let given = given.variables(&[("LEVEL", "info}\nbuffer: {watch_push: false")]);
    let faults = given.faults();
    assert!(faults.len() == 1 && faults[0].contains("log.level"), "{faults:?}");
}

#[test]
fn a_variable_that_is_unset_or_unreadable_is_a_fault_with_file_and_line() {
    check(
        &[
            ("services/vision_node.yaml", "\nname: ${oc.env:NODE}\n"),
            ("services/log.yaml", "level: '${LEVEL:?one of info, debug}'\nformat: ${FORMAT}\n"),
        ],
        &[("LEVEL", "")],
        &[
            "services/vision_node.yaml:2: vision_node.name | NODE is unset",
            "services/log.yaml:1: log.level | one of info, debug",
            "services/log.yaml:2: log.format | ${FORMAT} | ${oc.env:KEY}",
        ],
    );
}

#[test]
fn an_include_never_leaves_the_root() {
    for include in ["../secret.yaml", "/etc/hostname", "ros/../../secret.yaml", ""] {
        let given = Given::files(&[("config.yaml", &root_with(&format!("log: !include {include}")))]);
        std::fs::write(given.folder.path().join("secret.yaml"), "level: info\n").unwrap();
        let faults = given.faults();
        assert_eq!(faults.len(), 1, "{include}: {faults:?}");
        assert!(faults[0].contains("config.yaml"), "{include}: {faults:?}");
    }
}

#[cfg(unix)]
#[test]
fn an_include_through_a_link_never_leaves_the_root() {
    let given = Given::files(&[("config.yaml", &root_with("log: !include link.yaml"))]);
    std::fs::write(given.folder.path().join("secret.yaml"), "level: info\n").unwrap();
    std::os::unix::fs::symlink(given.folder.path().join("secret.yaml"), given.folder.path().join("config/link.yaml"))
        .unwrap();
    let faults = given.faults();
    assert!(faults[0].starts_with("config.yaml:17") && faults[0].contains("leads outside"), "{faults:?}");
}

#[test]
fn a_file_that_is_nowhere_is_named_with_what_is_there() {
    check(
        &[("config.yaml", &root_with("ros: !include ros/dds.yaml"))],
        &[],
        &["config.yaml:5 | ros/dds.yaml | ros/mem.yaml, ros/zenoh.yaml"],
    );
}

#[test]
fn a_secret_comes_from_a_variable_alone_and_is_never_shown() {
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let given = Given::files(&[("config.yaml", &root_with(""))]).variables(&[("RVC_EVENT_SECRET", secret)]);
    let loaded = given.load().unwrap();
    assert_eq!(loaded.settings.events.secret.as_ref().unwrap().expose_secret(), secret);
    let row = loaded.rows.iter().find(|row| row.setting == "events.secret").unwrap();
    assert_eq!((row.value.as_str(), row.variables.as_slice()), ("[redacted]", &["RVC_EVENT_SECRET".to_owned()][..]));
    assert!(!format!("{loaded:?}").contains(secret));

    for literal in [secret, "${oc.env:NONE,whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw}", "x${oc.env:KEY}"] {
        let given =
            Given::files(&[("services/events.yaml", &format!("secret: {literal}\n"))]).variables(&[("KEY", secret)]);
        let faults = given.faults();
        assert!(faults.len() == 1 && faults[0].starts_with("services/events.yaml:1: events.secret"), "{faults:?}");
        assert!(!faults[0].contains(secret), "{faults:?}");
    }
}

#[test]
fn a_secret_that_is_too_short_or_required_and_empty_refuses_to_start() {
    check(&[("config.yaml", &root_with(""))], &[("RVC_EVENT_SECRET", "short")], &["events.secret | 16"]);
    check(
        &[("services/events.yaml", "secret: ${RVC_EVENT_SECRET:?copy it from the brain}\n")],
        &[("RVC_EVENT_SECRET", "")],
        &["services/events.yaml:1 | copy it from the brain"],
    );
}

#[test]
fn a_catalog_may_be_a_file_a_folder_or_the_shipped_one() {
    let given = Given::files(&[("mine/a.yaml", ""), ("config.yaml", &root_with(""))]);
    let catalog = |given: Given, value: &str| {
        let given = given.variables(&[("SKILLS_CATALOG", value)]);
        (given.load().map(|loaded| loaded.settings.skill_control.catalog), given)
    };
    let (folder, given) = catalog(given, "mine");
    assert_eq!(folder.unwrap(), Resource::Disk(given.folder.path().join("config/mine")));
    let (file, given) = catalog(given, "config/mine/a.yaml");
    assert_eq!(file.unwrap(), Resource::Disk(given.folder.path().join("config/mine/a.yaml")));
    let (shipped, given) = catalog(given, "config/skills.yaml");
    assert!(matches!(shipped.unwrap(), Resource::Embedded(_)));
    let (nowhere, _) = catalog(given, "nowhere.yaml");
    assert!(nowhere.unwrap_err().to_string().contains("skill_control.catalog: there is no nowhere.yaml"));
}

#[test]
fn a_folder_that_is_named_has_a_root_file() {
    let given = Given::files(&[("ros/zenoh.yaml", "zenoh:\n")]);
    std::fs::remove_file(given.folder.path().join("config/config.yaml")).unwrap();
    let named = given.load_with(Some("config")).unwrap_err().to_string();
    assert!(named.starts_with("--config: config has no config.yaml"), "{named}");
    let given = given.variables(&[("CEREBELLUM_CONFIG", "config")]);
    let named = given.load_with(None).unwrap_err().to_string();
    assert!(named.starts_with("CEREBELLUM_CONFIG: config has no config.yaml"), "{named}");
    std::fs::create_dir(given.folder.path().join("config/deployment")).unwrap();
    std::fs::write(given.folder.path().join("config/deployment/mine.yaml"), root_with("")).unwrap();
    let given = given.variables(&[("CEREBELLUM_DEPLOYMENT", "mine")]);
    given.load_with(Some("config")).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn what_is_no_regular_file_is_never_opened() {
    let given = Given::files(&[("config.yaml", &root_with(""))]);
    let fault = given.load_with(Some("/dev/zero")).unwrap_err().to_string();
    assert!(fault.contains("--config: /dev/zero is neither"), "{fault}");
    let given = given.variables(&[("SKILLS_CATALOG", "/dev/zero")]);
    let fault = given.load().unwrap_err().to_string();
    assert!(fault.contains("/dev/zero is neither"), "{fault}");
    std::fs::create_dir(given.folder.path().join("config/folder.yaml")).unwrap();
    std::fs::write(given.folder.path().join("config/config.yaml"), root_with("log: !include folder.yaml")).unwrap();
    let fault = given.variables(&[]).load().unwrap_err().to_string();
    assert!(fault.contains("folder.yaml is no regular file"), "{fault}");
}

#[test]
fn a_fault_shows_one_line_and_little_of_a_file() {
    let long = "secret".repeat(40);
    let broken = format!("{long}: 1\n{long}: 2\n");
    for text in [
        long.clone(),
        format!("{long}\n{long}\n"),
        format!("|\n {long}\n {long}\n"),
        broken,
        root_with(&format!("ros: {{{long}: 1}}")),
        root_with(&format!("log: {{level: info, format: \"a\\n{long}\"}}")),
        root_with(&format!("log: {{level: info, {long}: \"a\"}}")),
        root_with(&format!("log: !include {long}")),
        root_with(&format!("log: !include ../{long}")),
        root_with(&format!("vision_node: {{name: \"9\\n{long}\"}}")),
    ] {
        for fault in Given::files(&[("config.yaml", &text)]).faults() {
            assert!(!fault.contains(&long[..81]), "{fault}");
            assert!(!fault.contains("\\n") && !fault.contains('\n'), "{fault}");
        }
    }
}

#[test]
fn udp_is_refused_before_the_bus_refuses_it() {
    check(
        &[("ros/zenoh.yaml", "zenoh:\n  endpoint: udp/127.0.0.1:7447\n")],
        &[],
        &["ros/zenoh.yaml:2: ros.zenoh.endpoint | \"udp/127.0.0.1:7447\" | tcp/HOST:PORT"],
    );
}

#[test]
fn user_and_password_of_a_url_are_never_shown() {
    let given = Given::files(&[("config.yaml", &root_with(""))]);
    let given = given.variables(&[("RVC_CALLBACK_URL", "https://me:hunter2@brain.example/events?a=b@c")]);
    let loaded = given.load().unwrap();
    let row = loaded.rows.iter().find(|row| row.setting == "events.callback_url").unwrap();
    assert_eq!(row.value, "https://[redacted]@brain.example/events?a=b@c");
    assert!(loaded.settings.events.callback_url.unwrap().contains("hunter2"), "it is used as it is");
    let given = given.variables(&[("RVC_CALLBACK_URL", "ftp://me:hunter2@brain.example/")]);
    let fault = given.load().unwrap_err().to_string();
    assert!(fault.contains("callback_url") && !fault.contains("hunter2"), "{fault}");
}

#[test]
fn values_say_which_file_they_come_from() {
    let given = Given::files(&[("ros/zenoh.yaml", "zenoh:\n  domain_id: 7\n")]);
    let rows = given.load().unwrap().rows;
    let row = rows.iter().find(|row| row.setting == "ros.zenoh.domain_id").unwrap();
    assert_eq!((row.value.as_str(), row.place.line), ("7", 2));
    assert!(row.place.file.ends_with("config/ros/zenoh.yaml"));
    let row = rows.iter().find(|row| row.setting == "log.format").unwrap();
    assert_eq!(&*row.place.file, "embedded:services/log.yaml");
}

#[test]
fn the_shipped_configuration_can_be_written_and_read_back() {
    let given = Given::files(&[]);
    let folder = given.folder.path().join("config");
    init(&folder, Existing::Keep).unwrap();
    let loaded = given.load().unwrap();
    assert!(loaded.files.iter().all(|file| !file.starts_with("embedded:")), "{:?}", loaded.files);
    assert!(matches!(init(&folder, Existing::Keep), Err(InitError::Exists(_))));
    init(&folder, Existing::Overwrite).unwrap();
}
