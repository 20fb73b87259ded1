//! The engine's end: constants, the words of submissions, and entries of completions.

use super::{Message, NUMBERS, layout, literal, messages, number, section, upper};
use std::fmt::Write;
use toml::Table;

pub(super) fn render(table: &Table) -> Result<String, String> {
    let mut out = String::from(
        "//! Codes and layouts of the channel between JavaScript and the engine. Generated from\n\
         //! `node/channel.toml` by `xtask generate`.\n\n",
    );
    let layout = layout(table)?;
    let words = number(layout, "words")?;
    push(&mut out, 0, "Words of an entry.");
    line(
        &mut out,
        0,
        &format!("pub(crate) const ENTRY_WORDS: usize = {words};"),
    );
    push(&mut out, 0, "An entry as it lies in a ring.");
    line(&mut out, 0, "pub(crate) type Entry = [u32; ENTRY_WORDS];");
    for (name, doc) in [
        (
            "serial",
            "The word with the serial that tells the exchanges of one number apart.",
        ),
        (
            "number",
            "The word with the number of what an entry belongs to.",
        ),
        (
            "position",
            "The word with the position of an entry's text in the arena.",
        ),
        ("length", "The word with the bytes of an entry's text."),
    ] {
        push(&mut out, 0, doc);
        let value = number(layout, name)?;
        line(
            &mut out,
            0,
            &format!("pub(crate) const {}: usize = {value};", upper(name)),
        );
    }
    for bound in section(table, "bound", "value")? {
        push(&mut out, 0, &bound.doc);
        let name = upper(&bound.name);
        line(
            &mut out,
            0,
            &format!("pub(crate) const {name}: usize = {};", bound.value),
        );
    }
    for &(name, key, doc) in NUMBERS {
        let kind = if name == "control" { "usize" } else { "u32" };
        push(&mut out, 0, doc);
        line(&mut out, 0, &format!("pub(crate) mod {name} {{"));
        for number in section(table, name, key)? {
            push(&mut out, 1, &number.doc);
            let value = literal(key, number.value);
            line(
                &mut out,
                1,
                &format!(
                    "pub(crate) const {}: {kind} = {value};",
                    upper(&number.name)
                ),
            );
        }
        line(&mut out, 0, "}");
    }
    rust_submissions(&mut out, &messages(table, "submission")?);
    rust_completions(&mut out, &messages(table, "completion")?, words);
    Ok(out)
}

fn rust_submissions(out: &mut String, messages: &[Message]) {
    push(
        out,
        0,
        "Codes of submissions, and the words of their entries.",
    );
    line(out, 0, "pub(crate) mod submission {");
    for message in messages {
        push(out, 1, &message.doc);
        line(
            out,
            1,
            &format!(
                "pub(crate) const {}: u32 = {};",
                upper(&message.name),
                message.code
            ),
        );
    }
    for message in messages.iter().filter(|message| !message.words.is_empty()) {
        push(out, 1, &format!("Words of [`{}`].", upper(&message.name)));
        line(out, 1, &format!("pub(crate) mod {} {{", message.name));
        for word in &message.words {
            push(out, 2, &word.doc);
            line(
                out,
                2,
                &format!(
                    "pub(crate) const {}: usize = {};",
                    upper(&word.name),
                    word.value
                ),
            );
        }
        line(out, 1, "}");
    }
    line(out, 0, "}");
}

fn rust_completions(out: &mut String, messages: &[Message], words: i64) {
    push(
        out,
        0,
        "Entries of completions; a flag is added to the first word.",
    );
    line(out, 0, "pub(crate) mod completion {");
    line(out, 1, "use super::Entry;\n");
    for message in messages {
        push(out, 1, &message.doc);
        for word in &message.words {
            push(out, 1, &format!("- `{}`: {}", word.name, word.doc));
        }
        signature(out, message);
        let mut entry = format!("{}, number", message.code);
        for at in 2..words {
            let word = message.words.iter().find(|word| word.value == at);
            let _ = write!(entry, ", {}", word.map_or("0", |word| word.name.as_str()));
        }
        line(out, 2, &format!("[{entry}]"));
        line(out, 1, "}");
    }
    line(out, 0, "}");
}

/// In one line, or one per parameter where that is longer than 100 columns.
fn signature(out: &mut String, message: &Message) {
    let names = message.words.iter().map(|word| word.name.as_str());
    let typed: Vec<String> = std::iter::once("number")
        .chain(names)
        .map(|name| format!("{name}: u32"))
        .collect();
    let start = format!("pub(crate) fn {}(", message.name);
    let whole = format!("{start}{}) -> Entry {{", typed.join(", "));
    if whole.len() + 4 <= 100 {
        return line(out, 1, &whole);
    }
    line(out, 1, &start);
    for parameter in typed {
        line(out, 2, &format!("{parameter},"));
    }
    line(out, 1, ") -> Entry {");
}

/// A doc comment of Rust, wrapped before column 100; further lines of a list's item are indented.
fn push(out: &mut String, depth: usize, doc: &str) {
    let width = 100 - depth * 4 - "/// ".len();
    let mut current = String::new();
    for word in doc.split(' ') {
        if !current.is_empty() && current.len() + 1 + word.len() > width {
            line(out, depth, &format!("/// {current}"));
            current.clear();
            if doc.starts_with("- ") {
                current.push(' ');
            }
        }
        if !current.is_empty() {
            current.push(' ');
        }
        current.push_str(word);
    }
    line(out, depth, &format!("/// {current}"));
}

/// One line.
fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"    ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}
