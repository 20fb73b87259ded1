//! Answers to the asynchronous cold calls.

use crate::channel::codes::completion;
use crate::channel::shared::Shared;
use crate::failure;
use std::sync::Arc;

/// The answer of an asynchronous cold call. It is always given, even when its task is dropped.
pub(crate) struct Reply {
    shared: Arc<Shared>,
    ticket: u32,
    answer: Option<serde_json::Value>,
}

impl Reply {
    pub(crate) fn new(shared: &Arc<Shared>, ticket: u32) -> Self {
        Self {
            shared: Arc::clone(shared),
            ticket,
            answer: None,
        }
    }
    pub(crate) fn give(mut self, answer: serde_json::Value) {
        self.answer = Some(answer);
    }
}

impl Drop for Reply {
    fn drop(&mut self) {
        let why = "the engine let go of the call after a fault of its own, which stderr names";
        let answer = self.answer.take();
        let answer = answer
            .unwrap_or_else(|| serde_json::json!({ "error": failure::refusal("ended", why) }));
        let entry = completion::answer(self.ticket);
        let text = answer.to_string();
        self.shared.complete(entry, text.as_bytes(), &[]);
    }
}
