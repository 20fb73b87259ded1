//! One exchange: its handler, then its response's body, each polled until pending.

use super::interim::InterimSender;
use super::service::HttpService;
use crate::body::header_map::trailers_of;
use crate::body::{Body, Inlet};
use crate::error::Error;
use crate::server::exchange::send::{FirstBody, SendSide};
use crate::server::exchange::turn::Turn;
use crate::server::observe::access::Record;
use crate::server::response::{BodyPlan, RequestFacts};
use crate::tunnel::datagrams::DatagramInlet;
use bytes::{Buf, Bytes};
use http::{Request, Response, StatusCode};
use http_body::{Body as _, Frame};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::Instant;
use trunkline_core::error::Misuse;
use trunkline_core::http::{Reset, StreamId};
use trunkline_core::inspect::{ConnectionSnapshot, StreamWait};

/// A place for one exchange.
pub(super) struct Slot<S: HttpService> {
    pub(super) facts: RequestFacts,
    /// When the request's head came.
    pub(super) began: Instant,
    pub(super) stage: SlotStage<S>,
    /// The send side of the exchange.
    pub(super) send: SendSide,
    /// The handler's future. Set anew for every exchange; the box is reused.
    pub(super) handler: Pin<Box<Option<S::Future>>>,
    /// The response's body, likewise.
    pub(super) body: Pin<Box<Option<S::ResponseBody>>>,
    pub(super) inlet: Option<Inlet>,
    /// The response began before the client was asked for the body that it holds back.
    pub(super) is_unrequested: bool,
    /// The handler's interim responses, if it may send any.
    pub(super) interim: Option<InterimSender>,
    /// The connection's side of its datagrams, if it may have any.
    pub(super) datagrams: Option<DatagramInlet>,
    /// Its line in the access log, if there is one.
    pub(super) record: Option<Box<Record>>,
}

/// The stage of an exchange.
pub(super) enum SlotStage<S> {
    Free,
    /// The service was not ready; its own clone is polled again. `invite`: as below.
    Queued {
        call: Box<(S, Request<Body>)>,
        invite: bool,
    },
    /// The handler runs; `invite`: it owes the peer a 100 when something waits for the body.
    Handling {
        invite: bool,
    },
    /// The head is sent, the body follows.
    Sending,
    /// The response is complete, and a task that the handler left behind reads the request's body on.
    Receiving,
}

/// The next step of an exchange.
pub(super) enum Step {
    Again,
    Wait,
    /// The response is complete.
    Over,
    /// It was cut short.
    Cut,
    Failed,
}

/// A frame of a body.
type Polled<B> = Option<Result<Frame<<B as http_body::Body>::Data>, <B as http_body::Body>::Error>>;

impl<S: HttpService> Slot<S> {
    pub(super) fn leave_queue(&mut self, cx: &mut Context<'_>) -> Step {
        let SlotStage::Queued { call, invite } = &mut self.stage else {
            return Step::Wait;
        };
        let invite = *invite;
        match catch_unwind(AssertUnwindSafe(|| call.0.poll_ready(cx))) {
            Ok(Poll::Pending) => return Step::Wait,
            Ok(Poll::Ready(Ok(()))) => {}
            Ok(Poll::Ready(Err(_))) | Err(_) => return Step::Failed,
        }
        let SlotStage::Queued { call, .. } = std::mem::replace(&mut self.stage, SlotStage::Free)
        else {
            return Step::Failed;
        };
        let (mut service, request) = *call;
        match catch_unwind(AssertUnwindSafe(|| service.call(request))) {
            Ok(future) => {
                self.handler.set(Some(future));
                self.stage = SlotStage::Handling { invite };
                Step::Again
            }
            Err(_) => Step::Failed,
        }
    }
    pub(super) fn run(&mut self, turn: &mut Turn<'_>, cx: &mut Context<'_>) -> Step {
        let Some(handler) = self.handler.as_mut().as_pin_mut() else {
            return Step::Failed;
        };
        // A panic must cost one exchange, not the connection's others. The handler is dropped and
        // never polled again, so the state that the panic left is not observed.
        let polled = catch_unwind(AssertUnwindSafe(|| handler.poll(cx)));
        self.send_interim(turn, !matches!(polled, Ok(Poll::Pending)));
        match polled {
            Ok(Poll::Ready(Ok(response))) => self.answer(turn, response, cx),
            Ok(Poll::Ready(Err(_))) | Err(_) => Step::Failed,
            Ok(Poll::Pending) => Step::Wait,
        }
    }
    /// Whether a reader is left that waits for the rest of the request. Where the response is complete, the exchange goes on for it.
    pub(super) fn is_received_on(&self) -> bool {
        let inlet = self.inlet.as_ref().filter(|_| !self.is_unrequested);
        inlet.is_some_and(Inlet::is_open)
    }
    /// The response is complete. Drops the handler and the response's body, which may hold the request's. True: the exchange is over.
    pub(super) fn finish_response(&mut self) -> bool {
        self.handler.set(None);
        self.body.set(None);
        if !self.is_received_on() {
            return true;
        }
        self.stage = SlotStage::Receiving;
        false
    }
    /// Whether its timeline has the reasons of its waits.
    pub(super) fn has_timeline(&self) -> bool {
        self.record
            .as_ref()
            .is_some_and(|record| record.has_timeline())
    }
    /// Notes the reason of a wait in the timeline, where there is one; `snapshot`: of its connection.
    pub(super) fn note_wait(&mut self, now: Instant, snapshot: &ConnectionSnapshot) {
        let Some(record) = &mut self.record else {
            return;
        };
        let reads = self.inlet.as_ref().is_some_and(Inlet::is_awaited);
        let wait = match self.stage {
            SlotStage::Free => return,
            SlotStage::Sending => {
                let stream = self.facts.stream;
                let found = snapshot.streams.iter().find(|it| it.id == stream);
                found.and_then(|it| it.sends).unwrap_or(StreamWait::Source)
            }
            _ if reads => StreamWait::RequestRest,
            _ => StreamWait::Handler,
        };
        record.waits(now, wait);
    }
    /// The exchange is over. A handler whose request has a body that comes over the connection is run once
    /// more, or for the first time, to read what came of it and learn why no more does; what it answers
    /// goes nowhere. Whether it waits for the body does not show where what came last has woken it.
    pub(super) fn fail_request(&mut self, reset: Reset, waker: &Waker) {
        let Some(inlet) = &self.inlet else {
            return;
        };
        inlet.fail(Error::reset(reset));
        let mut cx = Context::from_waker(waker);
        if matches!(self.stage, SlotStage::Handling { .. })
            && let Some(handler) = self.handler.as_mut().as_pin_mut()
        {
            // The panic hook has already reported it, and no exchange is left to fail.
            let _ = catch_unwind(AssertUnwindSafe(|| handler.poll(&mut cx).is_ready()));
        }
    }
    /// Sends what the handler has said so far. `over`: its answer follows.
    fn send_interim(&mut self, turn: &mut Turn<'_>, over: bool) {
        let Some(interim) = &self.interim else {
            return;
        };
        for response in interim.take(over) {
            if response.status() == StatusCode::CONTINUE {
                self.stage = SlotStage::Handling { invite: false };
            }
            turn.answer_interim(self.facts.stream, &response);
        }
    }
    fn answer(
        &mut self,
        turn: &mut Turn<'_>,
        response: Response<S::ResponseBody>,
        cx: &mut Context<'_>,
    ) -> Step {
        self.handler.set(None);
        if let Some(record) = &mut self.record {
            record.answered(response.status());
        }
        if matches!(self.stage, SlotStage::Handling { invite: true }) {
            // RFC 9110 section 10.1.1: a client that was not asked for its body does not send it.
            self.is_unrequested = true;
        }
        if self.inlet.as_ref().is_some_and(|inlet| !inlet.is_open()) {
            turn.machine.decline(self.facts.stream);
        }
        let plan = BodyPlan::of(&response, self.facts);
        let (head, body) = response.into_parts();
        self.body.set(Some(body));
        // A body is not polled while the connection's share of waiting bytes is used up.
        let has_room = !plan.nothing && turn.machine.send_room(self.facts.stream) > 0;
        let begun = match (plan.nothing, has_room) {
            (true, _) => Ok((FirstBody::Nothing, Poll::Pending)),
            (false, true) => catch_unwind(AssertUnwindSafe(|| self.poll_body(cx))),
            (false, false) => Ok((FirstBody::Later, Poll::Pending)),
        };
        let Ok((body, first)) = begun else {
            return Step::Failed;
        };
        if let (Some(record), FirstBody::Whole(body)) = (&mut self.record, &body) {
            record.body_bytes += body.len() as u64;
        }
        let (send, facts) = (&mut self.send, (self.facts, self.began));
        if let Err(misuse) = turn.answer_head(send, facts, &head, (plan, body)) {
            send.fail(turn, (self.facts.stream, self.began), misuse);
            return Step::Cut;
        }
        if self.send == SendSide::Done {
            return Step::Over;
        }
        self.stage = SlotStage::Sending;
        match first {
            Poll::Ready(first) => self.send(turn, Some(first), cx),
            Poll::Pending => Step::Wait,
        }
    }
    /// The part of the body that goes out with the head, and the frame behind it.
    fn poll_body(&mut self, cx: &mut Context<'_>) -> (FirstBody, Poll<Polled<S::ResponseBody>>) {
        let Some(mut body) = self.body.as_mut().as_pin_mut() else {
            return (FirstBody::Later, Poll::Ready(None));
        };
        match body.as_mut().poll_frame(cx) {
            // Mostly all of it is there, and goes out with the head.
            Poll::Ready(Some(Ok(frame))) if body.is_end_stream() => match frame.into_data() {
                Ok(mut data) => {
                    let data = data.copy_to_bytes(data.remaining());
                    (FirstBody::Whole(data), Poll::Pending)
                }
                Err(frame) => (FirstBody::Later, Poll::Ready(Some(Ok(frame)))),
            },
            part => (FirstBody::Later, part),
        }
    }
    /// Sends what the body has ready, behind `first`, which it gave already.
    pub(super) fn send(
        &mut self,
        turn: &mut Turn<'_>,
        first: Option<Polled<S::ResponseBody>>,
        cx: &mut Context<'_>,
    ) -> Step {
        let Some(body) = self.body.as_mut().as_pin_mut() else {
            return Step::Over;
        };
        let (send, stream, mut sent) = (&mut self.send, self.facts.stream, 0);
        let pumped = catch_unwind(AssertUnwindSafe(|| {
            pump(turn, stream, send, body, first, cx, &mut sent)
        }));
        if let Some(record) = &mut self.record {
            record.body_bytes += sent;
        }
        // A body that panicked is one that failed.
        match pumped.unwrap_or(Err(Misuse::BodyLength)) {
            Ok(()) if self.send == SendSide::Body => Step::Wait,
            Ok(()) => Step::Over,
            Err(misuse) => {
                self.send.fail(turn, (stream, self.began), misuse);
                Step::Cut
            }
        }
    }
}

/// Sends as much of `body` as the machine has room for and the body has ready, behind `first`, which
/// it gave already; adds its bytes to `bytes`.
fn pump<B: http_body::Body>(
    turn: &mut Turn<'_>,
    stream: StreamId,
    send: &mut SendSide,
    mut body: Pin<&mut B>,
    mut first: Option<Polled<B>>,
    cx: &mut Context<'_>,
    bytes: &mut u64,
) -> Result<(), Misuse> {
    while *send == SendSide::Body {
        let frame = match first.take() {
            Some(frame) => frame,
            None if !send.has_room(turn, stream) => break,
            None => match body.as_mut().poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => break,
            },
        };
        match frame {
            None => send.body(turn, stream, Bytes::new(), true)?,
            Some(Ok(frame)) => match frame.into_data() {
                Ok(mut data) => {
                    let end = body.is_end_stream();
                    let data = data.copy_to_bytes(data.remaining());
                    *bytes += data.len() as u64;
                    if end || !data.is_empty() {
                        send.body(turn, stream, data, end)?;
                    }
                }
                Err(frame) => {
                    // Another kind of frame is none that HTTP has.
                    if let Ok(trailers) = frame.into_trailers() {
                        send.trailers(turn, stream, &trailers_of(&trailers))?;
                    }
                }
            },
            // A failed body must not look like a whole one.
            Some(Err(_)) => return Err(Misuse::BodyLength),
        }
    }
    Ok(())
}
