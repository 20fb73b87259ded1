//! A directory as an HTML page: names with links, sizes and dates, directories first.

use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;

/// Characters that must be escaped in a path segment of a link (RFC 3986 section 3.3).
const SEGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'/')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'`')
    .add(b'{')
    .add(b'}')
    .add(b':');

/// Entries listed at most: a directory of a million files must not cost its size in memory.
const ENTRIES_MAX: usize = 10_000;

struct Entry {
    name: OsString,
    directory: bool,
    bytes: u64,
    modified: String,
}

/// The page for `directory`, reached as `request_path`; what leads out of `root` is left out, as it
/// is not served either; so are names that begin with a dot unless `dot_files`.
pub(crate) async fn page(
    directory: &Path,
    request_path: &str,
    root: &Path,
    dot_files: bool,
) -> std::io::Result<String> {
    let (mut entries, cut) = entries(directory, root, dot_files).await?;
    entries.sort_by(|a, b| (!a.directory, &a.name).cmp(&(!b.directory, &b.name)));
    let policy = percent_encoding::percent_decode_str(request_path).decode_utf8_lossy();
    let title = html_escape::encode_text(&policy);
    let mut page = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>{title}</title>\
         <style>body{{font:15px/1.5 system-ui;margin:2em auto;max-width:60em;padding:0 1em}}\
         table{{border-collapse:collapse;width:100%}}td{{padding:.15em .6em}}\
         td+td{{text-align:right;color:#666;font-variant-numeric:tabular-nums}}\
         a{{text-decoration:none}}</style><h1>{title}</h1><table>\n"
    );
    if request_path != "/" {
        page.push_str("<tr><td><a href=\"../\">../</a><td><td></tr>\n");
    }
    for entry in &entries {
        let slash = if entry.directory { "/" } else { "" };
        let link = percent_encode(entry.name.as_encoded_bytes(), SEGMENT).to_string();
        // A name may look like a character reference, as `a&lt;b`.
        let link = html_escape::encode_double_quoted_attribute(&link);
        let name = entry.name.to_string_lossy();
        let name = html_escape::encode_text(&name);
        let size = if entry.directory {
            String::new()
        } else {
            humansize::format_size(entry.bytes, humansize::BINARY)
        };
        // Writing to a String cannot fail.
        let _ = writeln!(
            page,
            "<tr><td><a href=\"./{link}{slash}\">{name}{slash}</a><td>{size}<td>{}</tr>",
            entry.modified
        );
    }
    page.push_str("</table>\n");
    if cut {
        let _ = writeln!(page, "<p>Only {ENTRIES_MAX} entries are listed.</p>");
    }
    Ok(page)
}

async fn entries(
    directory: &Path,
    root: &Path,
    dot_files: bool,
) -> std::io::Result<(Vec<Entry>, bool)> {
    let mut reader = tokio::fs::read_dir(directory).await?;
    let mut entries = Vec::new();
    while let Some(item) = reader.next_entry().await? {
        if entries.len() == ENTRIES_MAX {
            return Ok((entries, true));
        }
        let name = item.file_name();
        if !dot_files && name.as_encoded_bytes().starts_with(b".") {
            continue;
        }
        // No path with one is served.
        if name.as_encoded_bytes().contains(&b'\\') {
            continue;
        }
        // A link that leads nowhere resolves to nothing.
        let Ok(place) = tokio::fs::canonicalize(item.path()).await else {
            continue;
        };
        if !place.starts_with(root) {
            continue;
        }
        let Ok(metadata) = tokio::fs::metadata(&place).await else {
            continue;
        };
        // Pipes, sockets and devices are not served either.
        if !metadata.is_dir() && !metadata.is_file() {
            continue;
        }
        entries.push(Entry {
            name,
            directory: metadata.is_dir(),
            bytes: metadata.len(),
            modified: metadata
                .modified()
                .map(httpdate::fmt_http_date)
                .unwrap_or_default(),
        });
    }
    Ok((entries, false))
}
