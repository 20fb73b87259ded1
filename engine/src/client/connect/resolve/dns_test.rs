use super::*;
use hickory_resolver::proto::rr::{RData, Record};

/// The records of `origin.test` as a zone's file has them.
fn records(rows: &[&str]) -> Vec<Record> {
    let name = Name::from_ascii("origin.test.").unwrap();
    let rows = rows.iter();
    rows.map(|row| {
        let data = RData::try_from_str(RecordType::HTTPS, row).unwrap();
        Record::from_rdata(name.clone(), 60, data)
    })
    .collect()
}

fn service(rows: &[&str]) -> HttpsRecord {
    match answer(&records(rows)) {
        RecordAnswer::Service(record) => record,
        other => panic!("{rows:?} gave {other:?}"),
    }
}

fn alpn(record: &HttpsRecord) -> Vec<&str> {
    let names = record.alpn.iter();
    names
        .map(|name| std::str::from_utf8(name).unwrap())
        .collect()
}

#[test]
fn the_usable_record_with_the_lowest_priority_counts() {
    let record = service(&[
        "16 . alpn=h2 port=1",
        "2 . alpn=h3 port=2",
        "3 . alpn=h3 port=3",
    ]);
    assert_eq!(record.port, Some(2));
    let unknown = service(&["1 . mandatory=key667 key667=x port=1", "2 . alpn=h2 port=2"]);
    assert_eq!(unknown.port, Some(2), "a mandatory key that is not known");
    let foreign = service(&["1 . alpn=foo no-default-alpn port=1", "2 . alpn=h2 port=2"]);
    assert_eq!(foreign.port, Some(2), "no protocol that is known");
    let port = service(&["1 . alpn=h3 port=0", "2 . alpn=h2 port=2"]);
    assert_eq!(port.port, Some(2), "no port to connect to");
}

#[test]
fn http_1_1_is_spoken_unless_the_record_says_that_it_is_not() {
    assert_eq!(alpn(&service(&["1 ."])), ["http/1.1"]);
    assert_eq!(
        alpn(&service(&["1 . alpn=h3,h2"])),
        ["h3", "h2", "http/1.1"]
    );
    let without = service(&["1 . alpn=h3 no-default-alpn"]);
    assert_eq!(alpn(&without), ["h3"]);
    assert!(without.serves_http3() && !without.serves_tcp());
}

#[test]
fn every_parameter_is_read() {
    let record = service(&[
        "1 svc.test. mandatory=port alpn=h3 port=8443 ipv4hint=192.0.2.1,192.0.2.2 \
          ech=AEX+ ipv6hint=2001:db8::1",
    ]);
    assert_eq!(record.target.as_deref(), Some("svc.test"));
    assert_eq!(record.port, Some(8443));
    let hints = record.addresses.iter().map(ToString::to_string);
    assert_eq!(
        hints.collect::<Vec<_>>(),
        ["192.0.2.1", "192.0.2.2", "2001:db8::1"]
    );
    assert_eq!(record.ech.as_deref(), Some(&[0, 0x45, 0xfe][..]));
}

#[test]
fn an_alias_counts_before_services_and_one_to_the_root_says_that_there_is_none() {
    let target = Name::from_ascii("other.test.").unwrap();
    let found = answer(&records(&["1 . alpn=h3", "0 other.test."]));
    assert_eq!(found, RecordAnswer::Alias(target));
    assert_eq!(answer(&records(&["0 ."])), RecordAnswer::None);
    assert_eq!(answer(&[]), RecordAnswer::None);
}

#[test]
fn names_without_a_dot_and_names_of_the_local_link_have_no_records() {
    for host in [
        "printer",
        "localhost",
        "a.localhost",
        "nas.local",
        "nas.LOCAL.",
        "printer.",
    ] {
        assert!(!has_records(host), "{host}");
    }
    for host in ["example.com", "example.com.", "local.example"] {
        assert!(has_records(host), "{host}");
    }
}
