//! -w: the facts of a request in a format of the user.

use crate::failure::Failure;
use crate::get::given;
use http::{HeaderMap, StatusCode, Uri, Version};
use serde_json::{Number, Value};
use std::time::{Duration, Instant};
use trunkline::client::ConnectionUse;

/// The variables that `%{json}` has.
const IN_JSON: [&str; 25] = [
    "content_type",
    "errormsg",
    "exitcode",
    "filename_effective",
    "http_code",
    "http_version",
    "local_ip",
    "local_port",
    "method",
    "num_connects",
    "num_redirects",
    "redirect_url",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "size_header",
    "speed_download",
    "time_appconnect",
    "time_connect",
    "time_pretransfer",
    "time_starttransfer",
    "time_total",
    "url_effective",
];

/// Whether the variable is a number in JSON, as in curl's.
fn is_number(name: &str) -> bool {
    let (first, last) = (name.split('_').next(), name.rsplit('_').next());
    name == "exitcode"
        || last == Some("port")
        || matches!(first, Some("num" | "size" | "speed" | "time"))
}

/// The facts of a URL's last exchange.
pub(in crate::get) struct Facts {
    pub(in crate::get) began: Instant,
    /// When its head was there.
    pub(in crate::get) first_byte: Option<Instant>,
    pub(in crate::get) url: Uri,
    pub(in crate::get) method: String,
    pub(in crate::get) head: Option<(Version, StatusCode, HeaderMap)>,
    pub(in crate::get) connection: Option<ConnectionUse>,
    pub(in crate::get) redirects: u32,
    /// Where the answer leads, followed or not.
    pub(in crate::get) redirect_url: Option<String>,
    pub(in crate::get) body_bytes: u64,
    pub(in crate::get) head_bytes: u64,
    pub(in crate::get) file: String,
    pub(in crate::get) exit_code: u8,
    pub(in crate::get) error: String,
}

impl Facts {
    pub(in crate::get) fn new(url: Uri) -> Self {
        Self {
            began: Instant::now(),
            first_byte: None,
            url,
            method: String::new(),
            head: None,
            connection: None,
            redirects: 0,
            redirect_url: None,
            body_bytes: 0,
            head_bytes: 0,
            file: String::new(),
            exit_code: 0,
            error: String::new(),
        }
    }

    /// The value of a variable of curl; `None`: there is no such one here.
    fn value(&self, name: &str) -> Option<String> {
        let info = self.connection.as_ref().and_then(ConnectionUse::info);
        let (local, peer) = (
            info.and_then(|info| info.local_addr()),
            info.and_then(|info| info.peer_addr()),
        );
        let is_new = self
            .connection
            .as_ref()
            .is_some_and(|used| used.earlier_requests() == 0);
        let opened = self
            .connection
            .as_ref()
            .filter(|_| is_new)
            .map(ConnectionUse::opened);
        let status = self
            .head
            .as_ref()
            .map_or(0, |(_, status, _)| status.as_u16());
        Some(match name {
            "http_code" | "response_code" => format!("{status:03}"),
            "http_version" => self.version().to_owned(),
            "method" => self.method.clone(),
            "scheme" => self
                .url
                .scheme_str()
                .unwrap_or_default()
                .to_ascii_uppercase(),
            "url_effective" => self.url.to_string(),
            "num_redirects" => self.redirects.to_string(),
            "num_connects" => u8::from(is_new).to_string(),
            "redirect_url" => self.redirect_url.clone().unwrap_or_default(),
            "content_type" => self.field("content-type"),
            "filename_effective" => self.file.clone(),
            "size_download" => self.body_bytes.to_string(),
            "size_header" => self.head_bytes.to_string(),
            "speed_download" => self.speed().to_string(),
            "remote_ip" => peer.map_or(String::new(), |at| at.ip().to_string()),
            "remote_port" => peer.map_or(0, |at| at.port()).to_string(),
            "local_ip" => local.map_or(String::new(), |at| at.ip().to_string()),
            "local_port" => local.map_or(0, |at| at.port()).to_string(),
            "time_connect" | "time_appconnect" | "time_pretransfer" => seconds(self.since(opened)),
            "time_starttransfer" => seconds(self.since(self.first_byte)),
            "time_total" => seconds(self.began.elapsed()),
            "exitcode" => self.exit_code.to_string(),
            "errormsg" => self.error.clone(),
            "header_json" => self.fields_as_json(),
            "json" => self.as_json(),
            _ => return None,
        })
    }
    /// Each field of the head with its values.
    fn fields_as_json(&self) -> String {
        let fields = self.head.as_ref().map(|(_, _, fields)| fields);
        let names = fields.iter().flat_map(|fields| fields.keys());
        let members = names.map(|name| {
            let values = fields
                .iter()
                .flat_map(|fields| fields.get_all(name))
                .map(|value| Value::from(String::from_utf8_lossy(value.as_bytes())));
            (name.to_string(), values.collect())
        });
        Value::Object(members.collect()).to_string()
    }
    /// The variables of [`IN_JSON`]: numbers as such, and null for what there is not.
    fn as_json(&self) -> String {
        let members = IN_JSON.into_iter().map(|name| {
            let text = self.value(name).unwrap_or_default();
            let value = match text.parse::<Number>() {
                _ if text.is_empty() => Value::Null,
                // Of three digits, or 000.
                _ if name.ends_with("_code") => Value::from(text.parse::<u16>().unwrap_or(0)),
                Ok(number) if is_number(name) => Value::Number(number),
                _ => Value::String(text),
            };
            (name.to_owned(), value)
        });
        Value::Object(members.collect()).to_string()
    }
    fn version(&self) -> &'static str {
        match self.head.as_ref().map(|(version, ..)| *version) {
            Some(Version::HTTP_10) => "1.0",
            Some(Version::HTTP_2) => "2",
            Some(Version::HTTP_3) => "3",
            Some(_) => "1.1",
            None => "0",
        }
    }
    fn field(&self, name: &str) -> String {
        let value = self
            .head
            .as_ref()
            .and_then(|(_, _, fields)| fields.get(name));
        value.map_or(String::new(), |value| {
            String::from_utf8_lossy(value.as_bytes()).into_owned()
        })
    }
    /// Bytes per second.
    fn speed(&self) -> u64 {
        let speed = self.body_bytes as f64 / self.began.elapsed().as_secs_f64();
        // Beyond u64 only for a time of 0.
        speed as u64
    }
    fn since(&self, at: Option<Instant>) -> Duration {
        at.map_or(Duration::ZERO, |at| {
            at.saturating_duration_since(self.began)
        })
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.6}", time.as_secs_f64())
}

/// The format of -w: @FILE is read.
pub(in crate::get) fn format_of(given: Option<&str>) -> Result<Option<String>, Failure> {
    match given.and_then(|text| text.strip_prefix('@')) {
        Some(path) => {
            given::read(path).map(|bytes| Some(String::from_utf8_lossy(&bytes).into_owned()))
        }
        None => Ok(given.map(str::to_owned)),
    }
}

/// The format with the values of its variables. One that is not known stands for nothing and is among the
/// second.
pub(in crate::get) fn filled(format: &str, facts: &Facts) -> (String, Vec<String>) {
    let (mut text, mut unknown) = (String::new(), Vec::new());
    let mut rest = format;
    while let Some(at) = rest.find(['%', '\\']) {
        let (before, special) = rest.split_at(at);
        text.push_str(before);
        let braced = |mark: &str| special.strip_prefix(mark)?.split_once('}');
        if let Some((name, behind)) = braced("%header{") {
            text.push_str(&facts.field(name));
            rest = behind;
            continue;
        }
        let escape = ["%%", "\\n", "\\r", "\\t"]
            .iter()
            .position(|it| special.starts_with(it));
        rest = match (braced("%{"), escape) {
            (Some((name, behind)), _) => {
                match facts.value(name) {
                    Some(value) => text.push_str(&value),
                    None => unknown.push(name.to_owned()),
                }
                behind
            }
            (None, Some(which)) => {
                text.push(['%', '\n', '\r', '\t'][which]);
                &special[2..]
            }
            (None, None) => {
                text.push_str(&special[..1]);
                &special[1..]
            }
        };
    }
    text.push_str(rest);
    (text, unknown)
}

#[cfg(test)]
#[path = "write_out_test.rs"]
mod write_out_test;
