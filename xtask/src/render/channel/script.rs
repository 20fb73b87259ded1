//! JavaScript's end: enumerations, the words of completions, and functions that write submissions.

use super::{Message, NUMBERS, layout, literal, messages, number, section, upper};
use std::fmt::Write;
use toml::Table;

pub(super) fn render(table: &Table) -> Result<String, String> {
    let mut out = String::from(
        "// Codes and layouts of the channel between JavaScript and the engine. Generated from\n\
         // `node/channel.toml` by `xtask generate`.\n\n",
    );
    line(&mut out, 0, "/** Words that all entries have. */");
    line(&mut out, 0, "export const enum EntryWord {");
    for name in ["number", "position", "length"] {
        let value = number(layout(table)?, name)?;
        line(&mut out, 1, &format!("{} = {value},", camel(name)));
    }
    line(&mut out, 0, "}\n");
    for bound in section(table, "bound", "value")? {
        comment(&mut out, 0, &bound.doc);
        let (name, value) = (upper(&bound.name), bound.value);
        line(&mut out, 0, &format!("export const {name} = {value}"));
    }
    out.push('\n');
    for &(name, key, doc) in NUMBERS {
        let numbers = section(table, name, key)?;
        let values = numbers.iter().map(|number| {
            let value = literal(key, number.value);
            // A body's code is written as it stands in the word.
            let value = if name == "body" {
                value + " << 8"
            } else {
                value
            };
            (&number.name, &number.doc, value)
        });
        enumeration(&mut out, &camel(name), doc, values);
    }
    let submissions = messages(table, "submission")?;
    let completions = messages(table, "completion")?;
    for (name, doc, messages) in [
        ("Submission", "Codes of submissions.", &submissions),
        ("Completion", "Codes of completions.", &completions),
    ] {
        let codes = messages
            .iter()
            .map(|message| (&message.name, &message.doc, message.code.to_string()));
        enumeration(&mut out, name, doc, codes);
    }
    for message in completions.iter().filter(|it| !it.words.is_empty()) {
        let name = camel(&message.name);
        let doc = format!("Words of `Completion.{name}`.");
        let words = message
            .words
            .iter()
            .map(|word| (&word.name, &word.doc, word.value.to_string()));
        enumeration(&mut out, &format!("{name}Word"), &doc, words);
    }
    let words = number(layout(table)?, "words")?;
    writers(&mut out, &submissions, words);
    Ok(out)
}

fn enumeration<'a>(
    out: &mut String,
    name: &str,
    doc: &str,
    values: impl Iterator<Item = (&'a String, &'a String, String)>,
) {
    comment(out, 0, doc);
    line(out, 0, &format!("export const enum {name} {{"));
    for (name, doc, value) in values {
        comment(out, 1, doc);
        line(out, 1, &format!("{} = {value},", camel(name)));
    }
    line(out, 0, "}\n");
}

fn writers(out: &mut String, submissions: &[Message], words: i64) {
    comment(out, 0, "Writes the eight words of an entry.");
    line(out, 0, "export interface EntryWriter {");
    let parameters: Vec<String> = (0..words).map(|at| format!("word{at}: number")).collect();
    line(
        out,
        1,
        &format!("entry: ({}) => void", parameters.join(", ")),
    );
    line(out, 0, "}");
    for message in submissions {
        out.push('\n');
        comment(out, 0, &message.doc);
        let mut names = vec!["flags", "number"];
        if message.has_serial {
            names.push("serial");
        }
        if message.has_text {
            names.extend(["position", "length"]);
        }
        let own: Vec<String> = message
            .words
            .iter()
            .map(|word| lower_camel(&word.name))
            .collect();
        names.extend(own.iter().map(String::as_str));
        let typed: Vec<String> = names.iter().map(|name| format!("{name}: number")).collect();
        let function = camel(&message.name);
        line(
            out,
            0,
            &format!(
                "export function write{function} (to: EntryWriter, {}): void {{",
                typed.join(", ")
            ),
        );
        let mut entry = vec![
            format!("Submission.{function} | flags"),
            "number".to_owned(),
        ];
        for at in 2..words {
            let word = message.words.iter().find(|word| word.value == at);
            entry.push(match (word, at) {
                (Some(word), _) => lower_camel(&word.name),
                (None, 2) if message.has_serial => "serial".to_owned(),
                (None, 3) if message.has_text => "position".to_owned(),
                (None, 4) if message.has_text => "length".to_owned(),
                (None, _) => "0".to_owned(),
            });
        }
        line(out, 1, &format!("to.entry({})", entry.join(", ")));
        line(out, 0, "}");
    }
}

fn comment(out: &mut String, depth: usize, doc: &str) {
    out.push_str(&"  ".repeat(depth));
    let _ = writeln!(out, "/** {doc} */");
}

/// One line.
fn line(out: &mut String, depth: usize, text: &str) {
    out.push_str(&"  ".repeat(depth));
    out.push_str(text);
    out.push('\n');
}

fn camel(name: &str) -> String {
    let words = name.split('_').map(|word| {
        let (first, rest) = word.split_at(1.min(word.len()));
        first.to_uppercase() + rest
    });
    words.collect()
}

fn lower_camel(name: &str) -> String {
    let camel = camel(name);
    let (first, rest) = camel.split_at(1.min(camel.len()));
    first.to_lowercase() + rest
}
