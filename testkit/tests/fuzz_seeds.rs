//! Replays every seed of `fuzz/seeds` through the bodies of the fuzz targets.

use std::path::Path;
use trunkline_testkit::fuzz::TARGETS;

fn replay(name: &str) {
    let (_, body) = TARGETS
        .iter()
        .find(|(target, _)| *target == name)
        .expect("a target of this name");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../fuzz/seeds")
        .join(name);
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).expect("seeds").flatten() {
        let data = std::fs::read(entry.path()).expect("a seed");
        eprintln!("{name}: {}", entry.file_name().to_string_lossy());
        body(&data);
        // These bytes, cut at every one: the first control byte is 1.
        let control = usize::from(data.first().copied().unwrap_or(0));
        if let Some(wire) = data.get(1 + control..) {
            body(&[&[1, 1], wire].concat());
        }
        count += 1;
    }
    assert!(count > 0, "{} holds no seed", folder.display());
}

#[test]
fn seeds_of_capsules_hold() {
    replay("capsules");
}
#[test]
fn seeds_of_h2_frames_hold() {
    replay("h2_frames");
}
#[test]
fn seeds_of_hpack_hold() {
    replay("hpack");
}
#[test]
fn seeds_of_h1_heads_hold() {
    replay("h1_head");
}
#[test]
fn seeds_of_h1_bodies_hold() {
    replay("h1_body");
}
#[test]
fn seeds_of_h2_servers_hold() {
    replay("h2_conn_server");
}
#[test]
fn seeds_of_h2_clients_hold() {
    replay("h2_conn_client");
}
#[test]
fn seeds_of_sessions_hold() {
    replay("h2_session");
}
#[test]
fn seeds_of_h2_control_frames_hold() {
    replay("h2_control");
}
#[test]
fn seeds_of_h2_heads_hold() {
    replay("h2_heads");
}
#[test]
fn seeds_of_h3_frames_hold() {
    replay("h3_frames");
}
#[test]
fn seeds_of_h3_control_frames_hold() {
    replay("h3_control");
}
#[test]
fn seeds_of_qpack_hold() {
    replay("qpack");
}
#[test]
fn seeds_of_h3_servers_hold() {
    replay("h3_conn_server");
}
#[test]
fn seeds_of_h3_clients_hold() {
    replay("h3_conn_client");
}
#[test]
fn seeds_of_alternatives_hold() {
    replay("alt_svc");
}
#[test]
fn seeds_of_priorities_hold() {
    replay("priority");
}
#[test]
fn seeds_of_h1_ends_hold() {
    replay("h1_end");
}
#[test]
fn seeds_of_answers_to_connect_hold() {
    replay("proxy_connect");
}
#[test]
fn seeds_of_headers_of_proxies_hold() {
    replay("proxy_header");
}
#[test]
fn seeds_of_answers_of_socks_proxies_hold() {
    replay("proxy_socks");
}
