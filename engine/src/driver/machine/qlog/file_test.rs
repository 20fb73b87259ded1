use super::*;

#[test]
fn a_file_ends_at_its_bound_with_a_record_that_says_so() {
    let path = std::env::temp_dir().join(format!("trunkline-{}-bound.sqlog", std::process::id()));
    let header = header(Side::Client).len() as u64;
    let record = "\x1e{\"time\":1,\"name\":\"http:x\",\"data\":{},\"group_id\":\"http2-1\"}\n";
    let room = record.len() as u64 * 3;
    let qlog = Qlog::create_within(&path, Side::Client, header + room + 1).unwrap();
    for _ in 0..1000 {
        qlog.write_record(Instant::now(), record);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(text.matches(record).count(), 3);
    let last = text.lines().last().unwrap();
    assert!(
        last.contains("reached its bound") && last.ends_with("\"group_id\":\"http2-1\"}"),
        "{last}"
    );
    assert!(text.len() as u64 <= header + room + 200, "{}", text.len());
}

#[cfg(unix)]
#[test]
fn a_new_file_is_its_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let path = std::env::temp_dir().join(format!("trunkline-{}-mode.sqlog", std::process::id()));
    drop(Qlog::create(&path, Side::Client).unwrap());
    let mode = std::fs::metadata(&path).unwrap().permissions().mode();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(mode & 0o777, 0o600);
}

#[cfg(feature = "http3")]
#[test]
fn records_in_pieces_are_written_whole_and_the_first_is_left_out() {
    let path = std::env::temp_dir().join(format!("trunkline-{}-pieces.sqlog", std::process::id()));
    let qlog = Qlog::create(&path, Side::Server).unwrap();
    let mut packets = Packets {
        qlog,
        record: Vec::new(),
        has_header: false,
    };
    for piece in [
        "\x1e",
        "{\"qlog_version\"",
        ":1}",
        "\n",
        "\x1e",
        "{\"group_id\":",
        "\"ab\"}",
        "\n",
    ] {
        packets.write_all(piece.as_bytes()).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        before.split('\x1e').count(),
        2,
        "the name of ab is not known"
    );
    packets.qlog.name_last("http3-1");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    let records: Vec<_> = text.split('\x1e').collect();
    assert_eq!(records.len(), 3, "{text}");
    assert!(records[1].contains("\"type\":\"server\""));
    assert_eq!(records[2], "{\"group_id\":\"http3-1\"}\n");
}
