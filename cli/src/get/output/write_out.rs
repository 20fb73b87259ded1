//! -w: the facts of a request in a format of the user.

use super::coding::CodedBytes;
use crate::failure::Failure;
use crate::get::given;
use http::{HeaderMap, StatusCode, Uri, Version};
use serde_json::{Number, Value};
use std::time::{Duration, Instant};
use trunkline::client::ConnectionUse;

/// The variables that `%{json}` has.
const IN_JSON: [&str; 36] = [
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
    "num_headers",
    "num_redirects",
    "num_retries",
    "proxy_ssl_verify_result",
    "redirect_url",
    "referer",
    "remote_ip",
    "remote_port",
    "response_code",
    "scheme",
    "size_download",
    "size_header",
    "size_upload",
    "speed_download",
    "speed_upload",
    "ssl_verify_result",
    "time_appconnect",
    "time_connect",
    "time_namelookup",
    "time_pretransfer",
    "time_redirect",
    "time_starttransfer",
    "time_total",
    "url",
    "url_effective",
    "urlnum",
];

/// Whether the variable is a number in JSON, as in curl's.
fn is_number(name: &str) -> bool {
    let (first, last) = (name.split('_').next(), name.rsplit('_').next());
    matches!(name, "exitcode" | "urlnum")
        || matches!(last, Some("port" | "result"))
        || matches!(first, Some("num" | "size" | "speed" | "time"))
}

/// The facts of a URL's last exchange.
pub(in crate::get) struct Facts {
    pub(in crate::get) began: Instant,
    /// When a name was last looked up.
    pub(in crate::get) looked_up: Option<Instant>,
    /// When its head was there.
    pub(in crate::get) first_byte: Option<Instant>,
    /// When the last connection that was opened for it led to its origin, and when its handshake was done, if it has TLS.
    pub(in crate::get) reached: Option<Instant>,
    pub(in crate::get) secured: Option<Instant>,
    /// When its last request could go out.
    pub(in crate::get) ready: Option<Instant>,
    pub(in crate::get) url: Uri,
    /// The part of the URL that is not sent, with its `#`.
    pub(in crate::get) fragment: String,
    pub(in crate::get) method: String,
    pub(in crate::get) head: Option<(Version, StatusCode, HeaderMap)>,
    pub(in crate::get) connection: Option<ConnectionUse>,
    /// Connections that were opened for it, on the way through redirects too.
    pub(in crate::get) connects: u32,
    pub(in crate::get) redirects: u32,
    /// Further tries before the last one (--retry).
    pub(in crate::get) retries: u32,
    /// Where the answer leads, followed or not.
    pub(in crate::get) redirect_url: Option<String>,
    /// From the beginning to the request that led no further.
    pub(in crate::get) redirect_time: Duration,
    pub(in crate::get) body_bytes: u64,
    /// Those of the body as it came, where content codings are taken off.
    pub(in crate::get) coded_bytes: Option<CodedBytes>,
    /// The length of the request's body, where it is known.
    pub(in crate::get) sent_bytes: u64,
    /// The URL as it was given, and its place among them.
    pub(in crate::get) given: String,
    pub(in crate::get) number: usize,
    pub(in crate::get) referer: String,
    pub(in crate::get) head_bytes: u64,
    pub(in crate::get) file: String,
    pub(in crate::get) exit_code: u8,
    pub(in crate::get) error: String,
}

impl Facts {
    pub(in crate::get) fn new(url: Uri) -> Self {
        Self {
            began: Instant::now(),
            looked_up: None,
            first_byte: None,
            reached: None,
            secured: None,
            ready: None,
            url,
            fragment: String::new(),
            method: String::new(),
            head: None,
            connection: None,
            connects: 0,
            redirects: 0,
            retries: 0,
            redirect_url: None,
            redirect_time: Duration::ZERO,
            body_bytes: 0,
            coded_bytes: None,
            sent_bytes: 0,
            given: String::new(),
            number: 0,
            referer: String::new(),
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
            "url_effective" => format!("{}{}", self.url, self.fragment),
            "num_redirects" => self.redirects.to_string(),
            "num_retries" => self.retries.to_string(),
            "num_connects" => self.connects.to_string(),
            "redirect_url" => self.redirect_url.clone().unwrap_or_default(),
            "content_type" => self.field("content-type"),
            "filename_effective" => self.file.clone(),
            "size_download" => self.received_bytes().to_string(),
            "size_header" => self.head_bytes.to_string(),
            "speed_download" => self.speed(self.received_bytes()).to_string(),
            "remote_ip" => peer.map_or(String::new(), |at| at.ip().to_string()),
            "remote_port" => peer.map_or(0, |at| at.port()).to_string(),
            "local_ip" => local.map_or(String::new(), |at| at.ip().to_string()),
            "local_port" => local.map_or(0, |at| at.port()).to_string(),
            "time_connect" => seconds(self.since(self.reached)),
            "time_appconnect" => seconds(self.since(self.secured)),
            "time_pretransfer" => seconds(self.since(self.ready)),
            "time_starttransfer" => seconds(self.since(self.first_byte)),
            "time_total" => seconds(self.began.elapsed()),
            "exitcode" => self.exit_code.to_string(),
            "errormsg" => self.error.clone(),
            "num_headers" => {
                let fields = self.head.as_ref().map(|(_, _, fields)| fields);
                fields.map_or(0, HeaderMap::len).to_string()
            }
            "size_upload" => self.sent_bytes.to_string(),
            "speed_upload" => self.speed(self.sent_bytes).to_string(),
            "url" => self.given.clone(),
            "urlnum" => self.number.to_string(),
            "referer" => self.referer.clone(),
            "ssl_verify_result" | "proxy_ssl_verify_result" => "0".to_owned(),
            "time_namelookup" => seconds(self.since(self.looked_up)),
            "time_redirect" => seconds(self.redirect_time),
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
                // Three digits, or 000.
                _ if name.ends_with("_code") => Value::from(text.parse::<u16>().unwrap_or(0)),
                Ok(number) if is_number(name) => Value::Number(number),
                _ => Value::String(text),
            };
            (name.to_owned(), value)
        });
        Value::Object(members.collect()).to_string()
    }
    /// Notes a URL as it was given or redirected to.
    pub(in crate::get) fn note_fragment(&mut self, url: &str) {
        let at = url.find('#').unwrap_or(url.len());
        url[at..].clone_into(&mut self.fragment);
    }
    fn received_bytes(&self) -> u64 {
        let coded = self.coded_bytes.as_ref();
        coded.map_or(self.body_bytes, CodedBytes::get)
    }
    /// Whether a part of the body is on standard output.
    pub(in crate::get) fn is_on_stdout(&self) -> bool {
        self.body_bytes > 0 && self.file.is_empty()
    }
    /// Notes the connection of its last request, which was made at `asked`.
    pub(in crate::get) fn note_connection(&mut self, used: Option<&ConnectionUse>, asked: Instant) {
        self.connection = used.cloned();
        self.ready = Some(asked);
        if let Some(used) = used.filter(|used| used.earlier_requests() == 0) {
            let is_tls = self.url.scheme_str() == Some("https");
            self.connects += 1;
            self.reached = Some(used.reached());
            self.secured = is_tls.then(|| used.opened());
            self.ready = Some(used.opened().max(asked));
        }
    }
    fn version(&self) -> &'static str {
        match self.head.as_ref().map(|(version, ..)| *version) {
            Some(Version::HTTP_10) => "1",
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
    fn speed(&self, bytes: u64) -> u64 {
        let speed = bytes as f64 / self.began.elapsed().as_secs_f64();
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
        // Its lines are one text, as curl reads them: `\n` is a new line.
        Some(path) => given::read(path).map(|mut bytes| {
            bytes.retain(|byte| !matches!(byte, b'\r' | b'\n'));
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }),
        None => Ok(given.map(str::to_owned)),
    }
}

/// A format with the values of its variables.
#[derive(Debug, Default, PartialEq, Eq)]
pub(in crate::get) struct Filled {
    /// For standard output.
    pub(in crate::get) out: String,
    /// For standard error: what is behind `%{stderr}`.
    pub(in crate::get) err: String,
    /// Variables that are not known, which stand for nothing.
    pub(in crate::get) unknown: Vec<String>,
}

/// Fills the format. What is behind `%{onerror}` counts where the URL failed.
pub(in crate::get) fn filled(format: &str, facts: &Facts) -> Filled {
    let mut filled = Filled::default();
    let (mut rest, mut to_err) = (format, false);
    loop {
        let text = match to_err {
            true => &mut filled.err,
            false => &mut filled.out,
        };
        let Some(at) = rest.find(['%', '\\']) else {
            text.push_str(rest);
            return filled;
        };
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
            (Some(("onerror", _)), _) if facts.exit_code == 0 => return filled,
            (Some(("onerror", behind)), _) => behind,
            (Some((name @ ("stderr" | "stdout"), behind)), _) => {
                to_err = name == "stderr";
                behind
            }
            (Some((name, behind)), _) => {
                match facts.value(name) {
                    Some(value) => text.push_str(&value),
                    None => filled.unknown.push(name.to_owned()),
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
}

#[cfg(test)]
#[path = "write_out_test.rs"]
mod write_out_test;
