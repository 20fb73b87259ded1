//! The servers: our own machines, a scripted application, and the faults of the plan.

use super::machine::Machine;
use super::world::link::{Handler, Link};
use super::world::plan::Fault;
use super::world::{World, WorldEvent};
use std::sync::Arc;
use trunkline_core::error::{H2Code, Misuse, TransportEnd};
use trunkline_core::h2::frame::{Goaway, RstStream, Setting, WindowUpdate, settings};
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId};
use trunkline_core::limits::Config;
use trunkline_core::{h1, h2};

/// The largest piece of a response.
const PIECE_BYTES: u64 = 40_000;
/// The head of a response whose body the end delimits.
const END_HEAD_BYTES: u64 = 19;
/// How much of a body goes in frames of one byte.
const ONE_BYTE_MAX: u64 = 1024;

impl World {
    pub(super) fn server_machine(&self, origin: usize, h2: bool) -> Machine {
        let plan = &self.plan.origins[origin];
        let mut config = Config::default();
        config.limits.concurrent_streams_max = plan.streams_max;
        config.windows.stream_initial = plan.window;
        if self.calm {
            // Uploads in a row on a slow line: the last may not move for minutes.
            config.timeouts.body_idle = None;
            config.timeouts.stream_stall = None;
            config.timeouts.rate_min = 0;
        }
        let config = Arc::new(config);
        match h2 {
            true => Machine::H2(h2::Conn::new(Side::Server, config, self.now)),
            false => Machine::H1(h1::Conn::new(Side::Server, config, self.now)),
        }
    }

    /// Draws the fault of a new connection.
    pub(super) fn begin_server(&mut self, link: usize, own: &mut Link) {
        let plan = &self.plan.origins[own.origin];
        own.limits.push(plan.streams_max);
        let connections = &mut self.origins[own.origin].connections;
        *connections += 1;
        let may_fail = *connections <= plan.faulty_connections_max;
        if !may_fail || !self.dice.per_mille(plan.faulty_per_mille) {
            return;
        }
        let fault = self.dice.pick(&plan.faults);
        own.fault = Some(fault);
        let is_h2 = own.ledger.is_some();
        let strike_after = match fault {
            Fault::Late(until) => {
                own.mute_until = Some(self.now + until);
                None
            }
            Fault::FewAtFirst(until, few) if is_h2 => {
                self.allow_streams(own, few);
                Some(until)
            }
            Fault::Streams(after, _) | Fault::Window(after, _) if is_h2 => Some(after),
            Fault::Silence(after)
            | Fault::Stall(after, _)
            | Fault::Close(after, _)
            | Fault::HalfClose(after) => Some(after),
            _ => None,
        };
        if let Some(after) = strike_after {
            self.events
                .push(self.now + after, WorldEvent::Strike { link });
        }
    }

    /// The time of a connection's fault has come.
    pub(super) fn strike(&mut self, link: usize) {
        let Some(mut own) = self.links[link].take() else {
            return;
        };
        let now = self.now;
        let streams_max = self.origin_plan(&own).streams_max;
        match own.fault {
            Some(Fault::FewAtFirst(..)) => self.allow_streams(&mut own, streams_max),
            Some(Fault::Streams(_, limit)) => self.allow_streams(&mut own, limit.min(streams_max)),
            Some(Fault::Window(_, window)) => {
                let window = window.min(self.origin_plan(&own).window);
                own.limits.extend(own.limits.last().copied());
                own.report(now, |out| {
                    settings::write(&[Setting::InitialWindowSize(window)], out)
                });
            }
            Some(Fault::Close(_, end)) => {
                own.server.out.clear();
                own.server.eof = Some(TransportEnd::Failed);
                own.server.closes_as = end;
                own.server.inbox.clear();
                own.server.closing = true;
            }
            Some(Fault::HalfClose(_)) => own.server.closing = true,
            Some(Fault::Stall(_, time)) => own.stalled_until = Some(now + time),
            _ => {}
        }
        let silent = matches!(own.fault, Some(Fault::Silence(_)));
        self.links[link] = Some(own);
        if silent {
            self.fall_silent(link);
        }
        self.turn(link, Side::Server);
    }

    fn allow_streams(&mut self, own: &mut Link, limit: u32) {
        own.limits.push(limit);
        let setting = Setting::MaxConcurrentStreams(limit);
        own.report(self.now, |out| settings::write(&[setting], out));
    }

    pub(super) fn server_turn(&mut self, link: usize, own: &mut Link) {
        self.read_end(link, own, Side::Server, Self::take_server_events);
        self.write_end(link, own, Side::Server);
        self.take_server_events(link, own);
        self.send_late_frames(own);
        self.write_end(link, own, Side::Server);
    }

    fn take_server_events(&mut self, link: usize, own: &mut Link) {
        while let Some(event) = own.server.machine.poll_event() {
            match event {
                Event::RequestReceived { stream, head, end } => {
                    self.take_request(link, own, stream, &head, end);
                }
                Event::BodyReceived { stream, data, end } => {
                    if let Some(handler) = own.handlers.get_mut(&stream.0) {
                        let offset = handler.received;
                        handler.received += data.len() as u64;
                        let request = handler.request;
                        self.check_body(request, offset, &data);
                    }
                    own.server.machine.consume(self.now, stream, data.len());
                    if end {
                        self.take_request_end(link, own, stream);
                    }
                }
                Event::StreamReset { stream, .. } => self.finish(own, stream, false),
                Event::SendReady { stream } => self.download(own, stream),
                // A client that closes may still read as far as its server can tell.
                Event::BodyLost { .. } | Event::InputEnded => {}
                Event::Closed(closed) => self.check_closed(Side::Server, closed, own),
                other => panic!("an event that nothing caused: {other:?}"),
            }
        }
    }

    fn take_request(
        &mut self,
        link: usize,
        own: &mut Link,
        stream: StreamId,
        head: &RequestHead,
        end: bool,
    ) {
        own.streams_seen += 1;
        let seen = own.streams_seen;
        let is_h2 = own.ledger.is_some();
        match own.fault {
            Some(Fault::Drain(at)) if seen == at => own.server.machine.shut_down(self.now),
            Some(Fault::Goaway(at) | Fault::Count(at)) if seen == at && is_h2 => {
                let last = match own.fault {
                    Some(Fault::Count(_)) => stream.0,
                    _ => stream.0.saturating_sub(2),
                };
                own.goaway_last = Some(last);
                let goaway = Goaway {
                    last_stream: last as u32,
                    code: H2Code::NO_ERROR,
                    debug: b"",
                };
                own.report(self.now, |out| goaway.write(out));
            }
            Some(Fault::Refuse(first)) if seen <= first && is_h2 => {
                own.server
                    .machine
                    .reset(self.now, stream, H2Code::REFUSED_STREAM);
                return own.server.machine.handler_done(self.now, stream);
            }
            _ => {}
        }
        if own.goaway_last.is_some_and(|last| stream.0 > last) {
            return own.server.machine.handler_done(self.now, stream);
        }
        let request = request_number(head);
        let state = &mut self.requests[request as usize];
        state.delivered += 1;
        assert!(
            state.delivered <= 1 + state.harmless,
            "request {request} was delivered {} times",
            state.delivered
        );
        own.handlers.insert(
            stream.0,
            Handler {
                request,
                received: 0,
                request_ended: end,
                responded: false,
                sent: 0,
                done: false,
            },
        );
        // Some answer before they have read all.
        let hasty = self.plan.requests[request as usize].replayable;
        if end || (hasty && is_h2) {
            self.think(link, request, stream);
        }
    }

    fn take_request_end(&mut self, link: usize, own: &mut Link, stream: StreamId) {
        let Some(handler) = own.handlers.get_mut(&stream.0) else {
            return;
        };
        handler.request_ended = true;
        let request = handler.request;
        let plan = &self.plan.requests[request as usize];
        assert_eq!(
            handler.received, plan.upload,
            "request {request} came in part"
        );
        let hasty = plan.replayable && own.ledger.is_some();
        if !hasty {
            self.think(link, request, stream);
        } else if handler.done {
            own.handlers.remove(&stream.0);
        }
    }

    fn think(&mut self, link: usize, request: u32, stream: StreamId) {
        let at = self.now + self.plan.requests[request as usize].thought;
        self.events.push(
            at,
            WorldEvent::Answer {
                link,
                stream: stream.0,
            },
        );
    }

    /// The application answers.
    pub(super) fn answer(&mut self, link: usize, stream: u64) {
        let Some(mut own) = self.links[link].take() else {
            return;
        };
        if let Some(end) = own.delimits_by_end() {
            self.answer_to_the_end(&mut own, stream, end);
        } else if let Some(handler) = own.handlers.get_mut(&stream) {
            let plan = &self.plan.requests[handler.request as usize];
            let mut fields = Fields::new();
            if plan.has_length {
                fields.push_named(b"content-length", plan.download.to_string().as_bytes());
            }
            let version = own.server.machine.version();
            let head = ResponseHead::new(200, fields, version).expect("the head is valid");
            let end = plan.download == 0;
            let answered = own
                .server
                .machine
                .respond(self.now, StreamId(stream), &head, end);
            handler.responded = true;
            match answered {
                Ok(()) if end => self.finish(&mut own, StreamId(stream), true),
                Ok(()) => self.download(&mut own, StreamId(stream)),
                // The event of its end is still to come, or the connection is gone.
                Err(Misuse::StreamNotOpen | Misuse::ConnectionClosed) => {}
                Err(misuse) => panic!("an answer that the machine refuses: {misuse:?}"),
            }
        }
        self.links[link] = Some(own);
        self.turn(link, Side::Server);
    }

    /// Answers with a body that `end` delimits, by hand: our machine sends chunks.
    fn answer_to_the_end(&mut self, own: &mut Link, stream: u64, end: TransportEnd) {
        // Answers leave in the order of their requests, and nothing follows one that the end delimits.
        if own.handlers.keys().any(|&other| other < stream) {
            return;
        }
        let Some(handler) = own.handlers.get_mut(&stream) else {
            return;
        };
        let request = handler.request;
        let download = self.plan.requests[request as usize].download;
        let is_whole = end == TransportEnd::InOrder || request.is_multiple_of(2);
        let length = if is_whole { download } else { download / 2 };
        handler.responded = true;
        let mut answer = b"HTTP/1.1 200 OK\r\n\r\n".to_vec();
        while (answer.len() as u64) < END_HEAD_BYTES + length {
            let offset = answer.len() as u64 - END_HEAD_BYTES;
            let piece = PIECE_BYTES.min(length - offset);
            answer.extend_from_slice(&self.body(request, offset, piece));
        }
        own.report(self.now, |out| out.extend_from_slice(&answer));
        own.server.closes_as = end;
        own.ends_behind_outbox = true;
    }

    fn download(&mut self, own: &mut Link, stream: StreamId) {
        loop {
            let Some(handler) = own.handlers.get_mut(&stream.0) else {
                return;
            };
            if !handler.responded || handler.done {
                return;
            }
            let plan = &self.plan.requests[handler.request as usize];
            let piece_max = match own.fault {
                Some(Fault::OneByte) if handler.sent < ONE_BYTE_MAX => 1,
                _ => PIECE_BYTES,
            };
            let room = own.server.machine.send_room(stream) as u64;
            let piece = room.min(piece_max).min(plan.download - handler.sent);
            if piece == 0 {
                return;
            }
            let (request, offset) = (handler.request, handler.sent);
            handler.sent += piece;
            let end = handler.sent == plan.download;
            let data = self.body(request, offset, piece);
            assert_eq!(data.len() as u64, piece);
            if own
                .server
                .machine
                .send_body(self.now, stream, data, end)
                .is_err()
            {
                return;
            }
            if piece_max == 1 {
                // A frame of its own for every byte.
                own.server.machine.poll_write(self.now);
            }
            if end {
                return self.finish(own, stream, true);
            }
        }
    }

    /// The handler of a stream is gone.
    fn finish(&mut self, own: &mut Link, stream: StreamId, complete: bool) {
        let Some(handler) = own.handlers.get_mut(&stream.0) else {
            return;
        };
        if !std::mem::replace(&mut handler.done, true) {
            own.server.machine.handler_done(self.now, stream);
        }
        let both = handler.request_ended;
        if both || !complete {
            own.handlers.remove(&stream.0);
        }
        if own.fault == Some(Fault::LateFrames) && both && complete && own.ledger.is_some() {
            own.late.push(stream);
        }
    }

    /// Frames behind the end of streams, which crossing frames make legal.
    fn send_late_frames(&mut self, own: &mut Link) {
        for stream in std::mem::take(&mut own.late) {
            let ledger = own.ledger.as_ref();
            if !ledger.is_some_and(|ledger| ledger.server.ended.contains(&(stream.0 as u32))) {
                own.late.push(stream);
                continue;
            }
            let stream = stream.0 as u32;
            let update = WindowUpdate {
                stream,
                increment: 1,
            };
            let code = H2Code::NO_ERROR;
            own.report(self.now, |out| {
                update.write(out);
                RstStream { stream, code }.write(out);
            });
        }
    }
}

fn request_number(head: &RequestHead) -> u32 {
    let path = head.path().unwrap_or_default();
    let digits = std::str::from_utf8(&path[1..]).expect("the path is a number");
    digits.parse().expect("the path is a number")
}
