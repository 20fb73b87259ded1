//! Measured tables in the pages of `docs/`, written only by the run that measured them.

use crate::subject::root;

/// Puts `text` into `docs/<page>`, between the lines that mark what `command` writes.
pub(crate) fn put(page: &str, command: &str, text: &str) -> Result<(), String> {
    let path = root().join("docs").join(page);
    let old = std::fs::read_to_string(&path)
        .map_err(|error| format!("docs/{page} cannot be read: {error}"))?;
    let new = between_marks(&old, command, text)
        .ok_or_else(|| format!("docs/{page} has lost the marks of what `{command}` writes"))?;
    write(page, &new)
}

/// Writes `docs/<name>`.
pub(crate) fn write(name: &str, text: &str) -> Result<(), String> {
    let path = root().join("docs").join(name);
    std::fs::write(path, text).map_err(|error| format!("docs/{name} cannot be written: {error}"))
}

fn between_marks(page: &str, command: &str, text: &str) -> Option<String> {
    let begin = format!("<!-- table: {command} -->\n");
    const END: &str = "<!-- end of table -->\n";
    let (head, rest) = page.split_once(&begin)?;
    let (_, tail) = rest.split_once(END)?;
    Some(format!("{head}{begin}{text}{END}{tail}"))
}

#[cfg(test)]
#[path = "docs_test.rs"]
mod docs_test;
