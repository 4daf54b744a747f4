use std::process::Output;

use crate::program::{Place, free_port};

fn message(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

fn check(place: &Place, arguments: &[&str], variables: &[(&str, &str)], code: i32, words: &[&str]) {
    let output = place.command(arguments).envs(variables.iter().copied()).output().unwrap();
    let message = message(&output);
    assert_eq!(output.status.code(), Some(code), "{arguments:?}: {message}");
    for word in words {
        assert!(message.contains(word), "{arguments:?}: {word:?} is missing in: {message}");
    }
}

#[test]
fn the_version_is_one_line_on_stdout() {
    let output = Place::new().run(&["--version"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), format!("cerebellum {}", env!("CARGO_PKG_VERSION")));
    assert!(output.status.success() && output.stderr.is_empty());
}

#[test]
fn a_wrong_setting_ends_with_64_and_names_itself() {
    let place = Place::new();
    check(&place, &["skill-control"], &[("ROS_DOMAIN_ID", "400")], 64, &["domain_id", "232"]);
    check(&place, &["skill-control", "--transport", "pigeon"], &[], 64, &["pigeon", "sse"]);
    check(&place, &["skill-control"], &[("MCP_PORT", "seventy")], 64, &["seventy"]);
    check(
        &place,
        &["perception-buffer"],
        &[("RVC_EVENT_SECRET", "short"), ("RVC_CALLBACK_URL", "http://127.0.0.1:1/")],
        64,
        &["16"],
    );
    check(&place, &["demo", "--port-offset", "70000"], &[], 64, &["70000"]);
    check(&place, &["fly"], &[], 64, &["fly"]);
}

#[test]
fn a_fault_in_a_file_is_named_with_its_line() {
    let place = Place::new();
    let folder = place.path().join("config");
    assert!(place.run(&["config", "init"]).status.success());
    let root = std::fs::read_to_string(folder.join("config.yaml")).unwrap();
    std::fs::write(folder.join("config.yaml"), root.replace("ros/zenoh.yaml", "ros/carrier_pigeon.yaml")).unwrap();
    check(&place, &["config", "check"], &[], 64, &["config.yaml:", "carrier_pigeon"]);
}

#[tokio::test]
async fn a_port_in_use_is_named_with_its_holder() {
    let place = Place::new();
    let port = free_port();
    let _holder = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    let port = port.to_string();
    check(&place, &["skill-control", "--transport", "http", "--port", &port], &[], 64, &[&port, "MCP_PORT"]);
}

#[test]
fn calling_nobody_ends_with_69_and_the_remedies() {
    let place = Place::new();
    let url = format!("http://127.0.0.1:{}/mcp", free_port());
    check(&place, &["call", &url, "list_skill_templates"], &[], 69, &[&url]);
    check(&place, &["call"], &[], 64, &["URL"]);
}

#[test]
fn a_stdio_server_ends_when_its_input_does() {
    let output = Place::new().command(&["skill-control"]).output().unwrap();
    assert!(output.status.success(), "{}", message(&output));
    assert!(output.stdout.is_empty(), "stdout carries MCP and nothing else: {}", message(&output));
}
