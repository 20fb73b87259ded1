//! Questions that JavaScript answers later, by ticket.

use crate::channel::lock;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use tokio::sync::oneshot;

/// The questions of one kind that have no answer yet.
pub(crate) struct Questions<A>(Mutex<Waiting<A>>);

struct Waiting<A> {
    tickets: u32,
    answers: HashMap<u32, oneshot::Sender<A>>,
}

impl<A> Default for Questions<A> {
    fn default() -> Self {
        Self(Mutex::new(Waiting {
            tickets: 0,
            answers: HashMap::new(),
        }))
    }
}

impl<A> Questions<A> {
    /// Gives an answer to the waiting side; false: it is gone.
    pub(crate) fn answer(&self, ticket: u32, answer: A) -> bool {
        let waiting = lock(&self.0).answers.remove(&ticket);
        waiting.is_some_and(|waiting| waiting.send(answer).is_ok())
    }
    /// Whether the question still waits.
    pub(crate) fn waits(&self, ticket: u32) -> bool {
        lock(&self.0).answers.contains_key(&ticket)
    }
    fn ask(&self) -> (u32, oneshot::Receiver<A>) {
        let mut waiting = lock(&self.0);
        waiting.tickets = waiting.tickets.wrapping_add(1);
        let (answer, answered) = oneshot::channel();
        let ticket = waiting.tickets;
        waiting.answers.insert(ticket, answer);
        (ticket, answered)
    }
    fn forget(&self, ticket: u32) {
        lock(&self.0).answers.remove(&ticket);
    }
}

/// A question that can be cancelled: dropping it ends the wait.
pub(crate) struct Question<A: 'static> {
    pub(crate) ticket: u32,
    answered: oneshot::Receiver<A>,
    questions: Weak<Questions<A>>,
}

impl<A> Question<A> {
    pub(crate) fn new(questions: &Arc<Questions<A>>) -> Self {
        let (ticket, answered) = questions.ask();
        Self {
            ticket,
            answered,
            questions: Arc::downgrade(questions),
        }
    }
    /// `None`: the environment has gone.
    pub(crate) async fn answer(mut self) -> Option<A> {
        (&mut self.answered).await.ok()
    }
}

impl<A> Drop for Question<A> {
    fn drop(&mut self) {
        if let Some(questions) = self.questions.upgrade() {
            questions.forget(self.ticket);
        }
    }
}
