//! The known key that an unknown one was meant to be.

use super::keys::{KEYS, Key, TABLES};

/// Keys of the files of other servers, by their last part, and ours. The table is that in which it was written; `None`: any.
const FOREIGN: [(Option<&str>, &str, &str); 16] = [
    (None, "cert", "certificate.chain"),
    (None, "cert_file", "certificate.chain"),
    (None, "certificate", "certificate.chain"),
    (None, "ssl_certificate", "certificate.chain"),
    (None, "key_file", "certificate.key"),
    (None, "ssl_certificate_key", "certificate.key"),
    (Some("tls"), "key", "certificate.key"),
    (None, "session_tickets", "tls.tickets"),
    (None, "ticket_keys", "tls.tickets"),
    (None, "ssl_session_ticket_key", "tls.tickets"),
    (Some("log"), "file", "log.access"),
    (Some("log"), "path", "log.access"),
    (Some("admin"), "listen", "admin.address"),
    (Some(""), "port", "listen"),
    (Some(""), "bind", "listen"),
    (Some(""), "directory", "root"),
];

/// Our key for one of another server's.
fn of_foreign(table: &str, name: &str) -> Option<&'static Key> {
    let fits = |of: Option<&str>| of.is_none_or(|of| of == table);
    let found = FOREIGN
        .iter()
        .find(|(of, foreign, _)| fits(*of) && *foreign == name);
    found.and_then(|(.., ours)| KEYS.iter().find(|key| key.path == *ours))
}

/// The message about `name` in `table`, which is empty at the top.
pub(super) fn unknown(table: &str, name: &str) -> String {
    let written = match table {
        "" => name.to_owned(),
        table => format!("{table}.{name}"),
    };
    let is_of_table = |key: &&Key| key.table() == table;
    let distance = |key: &Key| {
        let far = usize::from(key.table() != table);
        2 * strsim::damerau_levenshtein(key.name(), name) + far
    };
    // A flag's name is known too: --access-log is log.access.
    let flag = format!("--{}", name.replace('_', "-"));
    let of_flag = KEYS.iter().find(|key| key.flag == Some(flag.as_str()));
    let of_flag = of_flag.or_else(|| of_foreign(table, name));
    let key = of_flag.or_else(|| KEYS.iter().min_by_key(|key| distance(key)));
    let tables = TABLES.iter().filter(|_| table.is_empty());
    let near = |name: &str, other: &str| 2 * strsim::damerau_levenshtein(name, other);
    let of_tables = tables.min_by_key(|other| near(other, name));
    let nearest = match (key, of_tables) {
        (Some(key), Some(other)) if of_flag.is_none() && near(other, name) < distance(key) => {
            format!("[{other}]")
        }
        (Some(key), _) => key.path.to_owned(),
        (None, _) => String::new(),
    };
    let known: Vec<&str> = KEYS.iter().filter(is_of_table).map(Key::name).collect();
    let place = match table {
        "" => "at the top".to_owned(),
        table => format!("in [{table}]"),
    };
    format!(
        "unknown key {written}; the nearest known one is {nearest}. Known {place}: {}",
        known.join(", ")
    )
}
