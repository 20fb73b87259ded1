//! Reads HTTPS records (RFC 9460): which of them counts for this client, and what it says.

use crate::client::connect::resolve::HttpsRecord;
use hickory_resolver::proto::rr::rdata::svcb::{SVCB, SvcParamKey, SvcParamValue};
use hickory_resolver::proto::rr::{Name, RData, Record};
use std::net::IpAddr;
use std::time::Duration;

/// The statement of a set of records.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum RecordAnswer {
    /// Nothing that this client can use, or that there is no such service.
    None,
    /// The service is that of another name (RFC 9460 section 2.4.2).
    Alias(Name),
    /// The best record; its time to live is not known here.
    Service(HttpsRecord),
}

/// The answer in `records`: an alias counts before services (RFC 9460 section 2.4.1), of these the usable one
/// with the lowest priority.
pub(super) fn answer(records: &[Record]) -> RecordAnswer {
    let mut best: Option<(u16, HttpsRecord)> = None;
    for record in records {
        let RData::HTTPS(https) = &record.data else {
            continue;
        };
        if https.svc_priority == 0 {
            // RFC 9460 section 2.5.1: an alias to the root says that there is no such service.
            return match https.target_name.is_root() {
                true => RecordAnswer::None,
                false => RecordAnswer::Alias(https.target_name.clone()),
            };
        }
        let better = best
            .as_ref()
            .is_none_or(|(priority, _)| https.svc_priority < *priority);
        if better && let Some(service) = service(https) {
            best = Some((https.svc_priority, service));
        }
    }
    best.map_or(RecordAnswer::None, |(_, record)| {
        RecordAnswer::Service(record)
    })
}

/// A record in service mode; `None`: it needs what this client does not know.
fn service(svcb: &SVCB) -> Option<HttpsRecord> {
    let mut record = HttpsRecord::new(Vec::new(), Duration::ZERO);
    let mut has_default_alpn = true;
    for (_, value) in &svcb.svc_params {
        match value {
            SvcParamValue::Mandatory(keys) if !keys.0.iter().all(is_known) => return None,
            SvcParamValue::Alpn(names) => {
                let names = names.0.iter().map(|name| name.as_bytes().to_vec());
                record.alpn.extend(names);
            }
            SvcParamValue::NoDefaultAlpn => has_default_alpn = false,
            SvcParamValue::Port(port) => record.port = Some(*port),
            SvcParamValue::Ipv4Hint(hints) => {
                let hints = hints.0.iter().map(|hint| IpAddr::V4(hint.0));
                record.addresses.extend(hints);
            }
            SvcParamValue::Ipv6Hint(hints) => {
                let hints = hints.0.iter().map(|hint| IpAddr::V6(hint.0));
                record.addresses.extend(hints);
            }
            SvcParamValue::EchConfigList(list) => record.ech = Some(list.0.clone()),
            SvcParamValue::Mandatory(_) | SvcParamValue::Unknown(_) => {}
        }
    }
    let default = b"http/1.1";
    if has_default_alpn && !record.alpn.iter().any(|name| name == default) {
        record.alpn.push(default.to_vec());
    }
    let speaks = |name: &Vec<u8>| matches!(&name[..], b"h3" | b"h2" | b"http/1.1");
    if !record.alpn.iter().any(speaks) || record.port == Some(0) {
        return None;
    }
    if !svcb.target_name.is_root() {
        record.target = Some(host(&svcb.target_name));
    }
    Some(record)
}

/// The keys whose meaning is applied (RFC 9460 section 8).
fn is_known(key: &SvcParamKey) -> bool {
    matches!(
        key,
        SvcParamKey::Alpn
            | SvcParamKey::NoDefaultAlpn
            | SvcParamKey::Port
            | SvcParamKey::Ipv4Hint
            | SvcParamKey::Ipv6Hint
            | SvcParamKey::EchConfigList
    )
}

/// A name as a host, without the dot of the root.
pub(super) fn host(name: &Name) -> Box<str> {
    let text = name.to_ascii();
    text.strip_suffix('.').unwrap_or(&text).into()
}
