//! The texts of an error: one level for libraries, and one line for people.

use super::Error;
use super::timeline::ErrorText;
use std::{error, fmt};

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            let (text, help) = (with_causes(self), self.help());
            // The message of another process ends with it already.
            return match text.contains(&help) {
                true => f.write_str(&text),
                false => write!(f, "{text} (see {help})"),
            };
        }
        match &self.text {
            Some(text) => f.write_str(text)?,
            None => write!(f, "{}", ErrorText(self.kind))?,
        }
        match self.timeline_id {
            Some(id) => write!(f, " (timeline {id})"),
            None => Ok(()),
        }
    }
}

/// The texts of an error and its causes. Some libraries print their cause themselves.
fn with_causes(error: &dyn error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut displayed = f.debug_struct("Error");
        displayed
            .field("kind", &self.kind)
            .field("fault", &self.fault)
            .field("retry", &self.retry);
        if let Some(text) = &self.text {
            displayed.field("text", text);
        }
        if let Some(source) = &self.source {
            displayed.field("source", source);
        }
        if let Some(id) = self.timeline_id {
            displayed.field("timeline_id", &id);
        }
        displayed.field("help", &self.help());
        displayed.finish()
    }
}
