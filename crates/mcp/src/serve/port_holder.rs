/// The program that listens on a local port, such as `python3 (pid 4711)`. `None` when it belongs to someone else or the
/// system does not tell.
#[cfg(target_os = "linux")]
pub(super) fn of(port: u16) -> Option<String> {
    let inodes: Vec<String> =
        ["/proc/net/tcp", "/proc/net/tcp6"].iter().flat_map(|table| listeners(&read(table), port)).collect();
    let processes = std::fs::read_dir("/proc").ok()?;
    processes.flatten().find_map(|process| {
        let pid: u32 = process.file_name().to_str()?.parse().ok()?;
        let holds = std::fs::read_dir(process.path().join("fd")).ok()?.flatten().any(|descriptor| {
            let target = std::fs::read_link(descriptor.path()).unwrap_or_default();
            inodes.iter().any(|inode| target.as_os_str() == format!("socket:[{inode}]").as_str())
        });
        holds.then(|| format!("{} (pid {pid})", read(&format!("/proc/{pid}/comm")).trim()))
    })
}

#[cfg(not(target_os = "linux"))]
pub(super) fn of(_port: u16) -> Option<String> {
    None
}

#[cfg(target_os = "linux")]
fn read(path: &str) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// The socket inodes that listen on `port` in a table of `/proc/net`: address and port in hexadecimal in the second column,
/// state 0A in the fourth, inode in the tenth.
#[cfg(target_os = "linux")]
fn listeners(table: &str, port: u16) -> Vec<String> {
    let suffix = format!(":{port:04X}");
    table
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|columns| columns.len() > 9 && columns[3] == "0A" && columns[1].ends_with(&suffix))
        .map(|columns| columns[9].to_owned())
        .collect()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:23F1 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 47110 1 0000 100 0 0 10 0
   1: 0100007F:23F1 0100007F:A001 01 00000000:00000000 00:00000000 00000000     0        0 47111 1 0000 20 4 30 10 -1
";

    #[test]
    fn only_the_listener_of_the_port_counts() {
        assert_eq!(listeners(TABLE, 9201), ["47110"]);
        assert!(listeners(TABLE, 9202).is_empty());
    }

    #[test]
    fn this_process_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let holder = of(listener.local_addr().unwrap().port()).unwrap();
        assert!(holder.ends_with(&format!("(pid {})", std::process::id())), "{holder}");
    }
}
