//! Field names that are known at compile time, a byte each, and their table by name.

use std::fmt;

macro_rules! tokens {
    ($($konst:ident = $name:literal,)*) => {
        /// A field name known at compile time: the names of the HPACK and QPACK static tables and
        /// those that rules mention. Comparing tokens is comparing a byte.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct Token(Index);

        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the index space of the constants below")]
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        enum Index { $($konst,)* }

        #[allow(missing_docs, reason = "each constant is the field name it stands for")]
        impl Token { $(pub const $konst: Token = Token(Index::$konst);)* }

        const NAMES: &[&str] = &[$($name,)*];
        const ALL: &[Token] = &[$(Token::$konst,)*];
    };
}

tokens! {
    // Pseudo-fields first: `is_pseudo` is one comparison.
    AUTHORITY = ":authority", METHOD = ":method", PATH = ":path", PROTOCOL = ":protocol",
    SCHEME = ":scheme", STATUS = ":status",
    ACCEPT = "accept", ACCEPT_CHARSET = "accept-charset", ACCEPT_ENCODING = "accept-encoding",
    ACCEPT_LANGUAGE = "accept-language", ACCEPT_RANGES = "accept-ranges",
    ACCESS_CONTROL_ALLOW_CREDENTIALS = "access-control-allow-credentials",
    ACCESS_CONTROL_ALLOW_HEADERS = "access-control-allow-headers",
    ACCESS_CONTROL_ALLOW_METHODS = "access-control-allow-methods",
    ACCESS_CONTROL_ALLOW_ORIGIN = "access-control-allow-origin",
    ACCESS_CONTROL_EXPOSE_HEADERS = "access-control-expose-headers",
    ACCESS_CONTROL_REQUEST_HEADERS = "access-control-request-headers",
    ACCESS_CONTROL_REQUEST_METHOD = "access-control-request-method",
    AGE = "age", ALLOW = "allow", ALT_SVC = "alt-svc", AUTHORIZATION = "authorization",
    CACHE_CONTROL = "cache-control", CONNECTION = "connection",
    CONTENT_DISPOSITION = "content-disposition", CONTENT_ENCODING = "content-encoding",
    CONTENT_LANGUAGE = "content-language", CONTENT_LENGTH = "content-length",
    CONTENT_LOCATION = "content-location", CONTENT_RANGE = "content-range",
    CONTENT_SECURITY_POLICY = "content-security-policy", CONTENT_TYPE = "content-type",
    COOKIE = "cookie", DATE = "date", EARLY_DATA = "early-data", ETAG = "etag", EXPECT = "expect",
    EXPECT_CT = "expect-ct", EXPIRES = "expires", FORWARDED = "forwarded", FROM = "from",
    HOST = "host", HTTP2_SETTINGS = "http2-settings", IF_MATCH = "if-match",
    IF_MODIFIED_SINCE = "if-modified-since", IF_NONE_MATCH = "if-none-match",
    IF_RANGE = "if-range", IF_UNMODIFIED_SINCE = "if-unmodified-since",
    KEEP_ALIVE = "keep-alive", LAST_MODIFIED = "last-modified", LINK = "link",
    LOCATION = "location", MAX_FORWARDS = "max-forwards", ORIGIN = "origin",
    PRIORITY = "priority", PROXY_AUTHENTICATE = "proxy-authenticate",
    PROXY_AUTHORIZATION = "proxy-authorization", PROXY_CONNECTION = "proxy-connection",
    PURPOSE = "purpose", RANGE = "range", REFERER = "referer", REFRESH = "refresh",
    RETRY_AFTER = "retry-after", SERVER = "server", SET_COOKIE = "set-cookie",
    STRICT_TRANSPORT_SECURITY = "strict-transport-security", TE = "te",
    TIMING_ALLOW_ORIGIN = "timing-allow-origin", TRAILER = "trailer",
    TRANSFER_ENCODING = "transfer-encoding", UPGRADE = "upgrade",
    UPGRADE_INSECURE_REQUESTS = "upgrade-insecure-requests", USER_AGENT = "user-agent",
    VARY = "vary", VIA = "via", WWW_AUTHENTICATE = "www-authenticate",
    X_CONTENT_TYPE_OPTIONS = "x-content-type-options", X_FORWARDED_FOR = "x-forwarded-for",
    X_FRAME_OPTIONS = "x-frame-options", X_XSS_PROTECTION = "x-xss-protection",
}

impl Token {
    /// The name.
    #[inline]
    pub fn as_str(self) -> &'static str {
        NAMES[self.index()]
    }
    /// Whether it is a pseudo-field (RFC 9113 section 8.3).
    #[inline]
    pub fn is_pseudo(self) -> bool {
        self.0 as u8 <= Index::STATUS as u8
    }
    /// A number below [`Token::COUNT`], for tables indexed by token.
    #[inline]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
    /// How many tokens there are.
    pub const COUNT: usize = NAMES.len();
    /// The token of a lower-case name, if it has one. A hash and mostly one comparison: it runs
    /// for every literal name that a decoder reads.
    pub fn from_name(name: &[u8]) -> Option<Token> {
        let mut slot = hash(name);
        loop {
            let token = SLOTS[slot]?;
            if token.as_str().as_bytes() == name {
                return Some(token);
            }
            slot = (slot + 1) % SLOTS.len();
        }
    }
    /// Every token.
    pub fn all() -> impl Iterator<Item = Token> {
        ALL.iter().copied()
    }
}

/// Open addressing at a load below a quarter.
static SLOTS: [Option<Token>; 512] = {
    let mut slots = [None; 512];
    let mut token = 0;
    while token < NAMES.len() {
        let mut slot = hash(NAMES[token].as_bytes());
        while slots[slot].is_some() {
            slot = (slot + 1) % slots.len();
        }
        slots[slot] = Some(ALL[token]);
        token += 1;
    }
    slots
};

const _: () = assert!(NAMES.len() * 4 <= SLOTS.len());

/// The length and four bytes distinguish nearly all names. Peers gain nothing from collisions:
/// probing is bounded by the names above.
const fn hash(name: &[u8]) -> usize {
    let len = name.len();
    if len == 0 {
        return 0;
    }
    let mix = (len as u32)
        .wrapping_mul(31)
        .wrapping_add(name[0] as u32)
        .wrapping_mul(31)
        .wrapping_add(name[len / 2] as u32)
        .wrapping_mul(31)
        .wrapping_add(name[len * 3 / 4] as u32)
        .wrapping_mul(31)
        .wrapping_add(name[len - 1] as u32);
    (mix.wrapping_mul(0x9e37_79b1) >> 23) as usize
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
#[path = "token_test.rs"]
mod token_test;
