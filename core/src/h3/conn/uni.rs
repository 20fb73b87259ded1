//! Unidirectional streams: our control and QPACK streams, and those of the peer (RFC 9114
//! section 6.2, RFC 9204 section 4.2).

use super::{Conn, Timer};
use crate::error::{H3Code, Violation};
use crate::exchange::Framing;
use crate::h3::action::ORDER_MAX;
use crate::h3::action::queue::ActionQueue;
use crate::h3::control_stream::{self, ControlFrame};
use crate::h3::frame::{FrameKind, FrameReader, Piece, kind, put_frame};
use crate::h3::stream_kind::{self, StreamOrigin};
use crate::h3::{TransportAction, UniKind, settings};
use crate::http::priority::Priority;
use crate::http::{Event, Side, StreamId};
use crate::limits::{CONTROL_FRAME_BYTES_MAX, CRITICAL_STREAM_BYTES_MAX, QUIC_UNI_STREAMS_MAX};
use crate::wire::varint;
use bytes::Bytes;
use std::time::Instant;

/// Points of the glitch budget for a stream of unknown type.
const UNKNOWN_STREAM_POINTS: u32 = 10;
/// Points of the glitch budget for a frame without effect on the control stream.
const IDLE_FRAME_POINTS: u32 = 1;
/// With what QUIC adds, a packet of the size that every path carries (RFC 9000 section 14).
const PADDING_BYTES: usize = 1120;

/// A unidirectional stream of ours. It is opened with its first bytes: a peer that lets us use no
/// table sees no encoder stream.
#[derive(Debug)]
struct OurUni {
    kind: UniKind,
    id: Option<StreamId>,
    /// Bytes to write.
    waiting: Vec<u8>,
    /// The transport takes nothing now.
    blocked: bool,
}

impl OurUni {
    fn new(kind: UniKind) -> Self {
        Self {
            kind,
            id: None,
            waiting: Vec::new(),
            blocked: false,
        }
    }
}

/// Our unidirectional streams, one of each kind.
#[derive(Debug)]
pub(in crate::h3) struct OurUnis {
    /// In the order of the kinds.
    streams: [OurUni; 3],
    /// The id of the next one.
    next: u64,
}

impl OurUnis {
    pub(super) fn new(side: Side) -> Self {
        Self {
            streams: [
                OurUni::new(UniKind::Control),
                OurUni::new(UniKind::QpackEncoder),
                OurUni::new(UniKind::QpackDecoder),
            ],
            next: match side {
                Side::Client => 2,
                Side::Server => 3,
            },
        }
    }
    /// The bytes that wait for a stream.
    #[inline]
    pub(super) fn out(&mut self, kind: UniKind) -> &mut Vec<u8> {
        &mut self.streams[kind as usize].waiting
    }
    fn by_id(&mut self, stream: StreamId) -> Option<&mut OurUni> {
        self.streams.iter_mut().find(|ours| ours.id == Some(stream))
    }
    /// Orders the writes of what waits, and the stream before its first bytes. Our streams come
    /// before every request stream: a peer that waits for an instruction of the encoder stream reads
    /// nothing of the stream whose section needs it (RFC 9204 section 2.1.2).
    fn flush(&mut self, actions: &mut ActionQueue) -> Result<(), Violation> {
        for ours in &mut self.streams {
            if ours.waiting.is_empty() {
                continue;
            }
            if ours.blocked {
                if ours.waiting.len() > CRITICAL_STREAM_BYTES_MAX {
                    return Err(Violation::CriticalStreamStalled);
                }
                continue;
            }
            let bytes = std::mem::take(&mut ours.waiting);
            let (stream, bytes) = match ours.id {
                Some(stream) => (stream, bytes),
                None => {
                    let stream = StreamId(self.next);
                    self.next += 4;
                    ours.id = Some(stream);
                    let kind = ours.kind;
                    actions.push(TransportAction::OpenUni { stream, kind });
                    let order = ORDER_MAX;
                    actions.push(TransportAction::SetPriority { stream, order });
                    let mut whole = Vec::with_capacity(1 + bytes.len());
                    varint::put(kind.wire(), &mut whole);
                    whole.extend_from_slice(&bytes);
                    (stream, whole)
                }
            };
            actions.push_write(stream, [Bytes::from(bytes), Bytes::new()], false);
        }
        Ok(())
    }
}

/// A unidirectional stream of the peer's.
#[derive(Debug)]
struct PeerUni {
    id: StreamId,
    kind: Option<UniKind>,
    /// The start of its type.
    head: [u8; 8],
    have: u8,
    /// Reads the control stream: its position, and a frame in pieces.
    reader: FrameReader,
    payload: Vec<u8>,
}

impl PeerUni {
    fn new(id: StreamId) -> Self {
        Self {
            id,
            kind: None,
            head: [0; 8],
            have: 0,
            reader: FrameReader::default(),
            payload: Vec::new(),
        }
    }
}

/// The unidirectional streams of the peer.
///
/// Invariants: at most [`QUIC_UNI_STREAMS_MAX`] are open; each kind comes once.
#[derive(Debug, Default)]
pub(in crate::h3) struct PeerUnis {
    open: Vec<PeerUni>,
    /// Unidirectional streams that the peer has opened so far, of any kind.
    count: u64,
    /// The kinds that have come, in the order of the kinds.
    has_come: [bool; 3],
}

impl PeerUnis {
    /// The peer opened streams up to `stream`.
    pub(super) fn accept(&mut self, stream: StreamId) -> Result<(), Violation> {
        let first = match StreamOrigin::of(stream.0) {
            StreamOrigin::ClientUni => 2,
            _ => 3,
        };
        while self.count * 4 + first <= stream.0 {
            let id = StreamId(self.count * 4 + first);
            self.count += 1;
            self.open.push(PeerUni::new(id));
            if self.open.len() > QUIC_UNI_STREAMS_MAX as usize {
                return Err(Violation::UniStreamsTooMany);
            }
        }
        Ok(())
    }
    /// Where a stream is; `None`: we stopped it.
    fn position(&self, stream: StreamId) -> Option<usize> {
        self.open.iter().position(|theirs| theirs.id == stream)
    }
    /// Sets the kind of a stream.
    fn begin(&mut self, index: usize, kind: UniKind) -> Result<(), Violation> {
        if std::mem::replace(&mut self.has_come[kind as usize], true) {
            return Err(Violation::StreamTypeRepeated);
        }
        self.open[index].kind = Some(kind);
        Ok(())
    }
}

impl Conn {
    // Ours.

    /// RFC 9114 section 6.2.1: SETTINGS are the first thing on the control stream.
    pub(super) fn send_settings(&mut self) {
        let out = self.ours.out(UniKind::Control);
        settings::write_ours(self.session.side(), self.session.config(), out);
    }

    /// Sends a packet's worth of nothing: a frame of a reserved type, which every peer ignores (RFC
    /// 9114 section 7.2.8), on the control stream. Where one waits already it does nothing.
    pub fn pad(&mut self) {
        let out = self.control_out();
        if out.is_empty() {
            put_frame(kind::RESERVED, &[0; PADDING_BYTES], out);
        }
    }
    /// The bytes that wait for the control stream.
    pub(super) fn control_out(&mut self) -> &mut Vec<u8> {
        self.ours.out(UniKind::Control)
    }

    /// Asks for writes of what waits on our own streams.
    pub(super) fn flush_ours(&mut self, now: Instant) {
        let waiting = self.ours.out(UniKind::QpackDecoder);
        self.decoder.decoder_stream_bytes(waiting);
        let waiting = self.ours.out(UniKind::QpackEncoder);
        self.encoder.encoder_stream_bytes(waiting);
        if let Err(violation) = self.ours.flush(&mut self.actions) {
            self.fail(now, violation);
        }
    }

    pub(super) fn is_our_uni(&mut self, stream: StreamId) -> bool {
        self.ours.by_id(stream).is_some()
    }

    /// The transport gave bytes of one of our own streams back.
    pub(super) fn uni_blocked(&mut self, stream: StreamId, rest: &[Bytes]) {
        if let Some(ours) = self.ours.by_id(stream) {
            ours.blocked = true;
            let mut whole = rest.concat();
            whole.append(&mut ours.waiting);
            ours.waiting = whole;
        }
    }

    /// The transport takes more on one of our own streams.
    pub(super) fn uni_room(&mut self, stream: StreamId) {
        if let Some(ours) = self.ours.by_id(stream) {
            ours.blocked = false;
        }
    }

    // The peer's.

    pub(super) fn read_uni(
        &mut self,
        now: Instant,
        stream: StreamId,
        bytes: &[u8],
        fin: bool,
    ) -> Result<(), Violation> {
        let Some(index) = self.theirs.position(stream) else {
            // One that we stopped.
            return Ok(());
        };
        let mut input = bytes;
        let kind = match self.theirs.open[index].kind {
            Some(kind) => kind,
            None => match self.read_type(index, &mut input) {
                None if fin => return self.uni_ended(stream),
                None => return Ok(()),
                Some(wire) => match self.begin_uni(now, index, wire)? {
                    Some(kind) => kind,
                    None => return Ok(()),
                },
            },
        };
        match kind {
            UniKind::Control => self.read_control(now, index, input)?,
            UniKind::QpackEncoder => self.read_encoder_stream(now, input)?,
            UniKind::QpackDecoder => self.encoder.handle_decoder_bytes(input)?,
        }
        match fin {
            true => self.uni_ended(stream),
            false => Ok(()),
        }
    }

    /// The peer's side of a unidirectional stream is over, finished or reset.
    pub(super) fn uni_ended(&mut self, stream: StreamId) -> Result<(), Violation> {
        let Some(index) = self.theirs.position(stream) else {
            return Ok(());
        };
        // RFC 9114 section 6.2.1, RFC 9204 section 4.2. One that ends before it said its type is
        // nothing (RFC 9114 section 6.2).
        match self.theirs.open.swap_remove(index).kind {
            Some(_) => Err(Violation::CriticalStreamClosed),
            None => Ok(()),
        }
    }

    /// The stream type, once it is all there.
    fn read_type(&mut self, index: usize, input: &mut &[u8]) -> Option<u64> {
        let theirs = &mut self.theirs.open[index];
        while let Some((&first, rest)) = input.split_first() {
            *input = rest;
            // An integer is complete at 8 bytes at the latest.
            theirs.head[usize::from(theirs.have)] = first;
            theirs.have += 1;
            if let Some((wire, _)) = varint::take(&theirs.head[..usize::from(theirs.have)]) {
                return Some(wire);
            }
        }
        None
    }

    fn begin_uni(
        &mut self,
        now: Instant,
        index: usize,
        wire: u64,
    ) -> Result<Option<UniKind>, Violation> {
        let Some(kind) = stream_kind::admit(wire, self.session.side())? else {
            let stream = self.theirs.open.swap_remove(index).id;
            let code = H3Code::STREAM_CREATION_ERROR;
            self.actions
                .push(TransportAction::StopSending { stream, code });
            self.glitch(now, UNKNOWN_STREAM_POINTS)?;
            return Ok(None);
        };
        self.theirs.begin(index, kind)?;
        Ok(Some(kind))
    }

    /// The peer's control stream.
    fn read_control(
        &mut self,
        now: Instant,
        index: usize,
        mut input: &[u8],
    ) -> Result<(), Violation> {
        while let Some(piece) = self.theirs.open[index].reader.next(&mut input) {
            match piece {
                Piece::Header { kind, len } => {
                    control_stream::admit(kind, self.session.side(), self.is_limit_known())?;
                    if kind == FrameKind::Unknown {
                        self.glitch(now, IDLE_FRAME_POINTS)?;
                    } else if len > CONTROL_FRAME_BYTES_MAX as u64 {
                        return Err(Violation::ControlFrameTooLarge);
                    }
                }
                Piece::Payload {
                    kind: FrameKind::Unknown,
                    ..
                } => {}
                Piece::Payload {
                    kind,
                    bytes,
                    is_last: true,
                } if self.theirs.open[index].payload.is_empty() => {
                    self.take_control(now, ControlFrame::parse(kind, bytes)?)?;
                }
                Piece::Payload {
                    kind,
                    bytes,
                    is_last,
                } => {
                    self.theirs.open[index].payload.extend_from_slice(bytes);
                    if is_last {
                        let mut payload = std::mem::take(&mut self.theirs.open[index].payload);
                        self.take_control(now, ControlFrame::parse(kind, &payload)?)?;
                        payload.clear();
                        self.theirs.open[index].payload = payload;
                    }
                }
            }
        }
        Ok(())
    }

    fn take_control(&mut self, now: Instant, frame: ControlFrame<'_>) -> Result<(), Violation> {
        match frame {
            ControlFrame::Settings(settings) => {
                self.peer.take(settings)?;
                self.timers.stop(Timer::Settings);
                self.encoder.set_peer(
                    settings.qpack_table_bytes_max,
                    settings.qpack_blocked_streams_max,
                );
                if self.session.config().frame_events {
                    self.session.push_event(Event::SettingsReceived {
                        extensions: Vec::new(),
                    });
                }
                Ok(())
            }
            ControlFrame::Goaway(id) => {
                self.glitch(now, IDLE_FRAME_POINTS)?;
                self.take_goaway(now, id)
            }
            ControlFrame::MaxPushId(id) => {
                // RFC 9114 section 7.2.7: it never falls.
                if self.push_id_max.is_some_and(|before| id < before) {
                    return Err(Violation::PushIdInvalid);
                }
                self.push_id_max = Some(id);
                self.glitch(now, IDLE_FRAME_POINTS)
            }
            ControlFrame::PriorityUpdate { stream, value } => {
                self.take_priority_update(now, StreamId(stream), Priority::parse(value))
            }
            ControlFrame::Unknown => Ok(()),
        }
    }

    /// RFC 9218 section 7.2: about a request stream that is open or may be opened.
    fn take_priority_update(
        &mut self,
        now: Instant,
        stream: StreamId,
        priority: Priority,
    ) -> Result<(), Violation> {
        debug_assert_eq!(
            self.session.side(),
            Side::Server,
            "admitted by control_stream"
        );
        if StreamOrigin::of(stream.0) != StreamOrigin::ClientBidi || !self.may_open(stream) {
            return Err(Violation::StreamIdInvalid);
        }
        if stream >= self.streams.next_id() {
            let next = self.streams.next_id().0;
            self.session.keep_priority(stream.0, next, priority);
        } else if let Some(key) = self.streams.key(stream)
            && let Some(open) = self.streams.get_mut(stream)
        {
            open.priority = Some(priority);
            self.session.schedule_mut().reprioritise(key, priority);
            self.set_priority(stream);
        }
        let early = self.session.early_priorities();
        let verdict = self.session.abuse_mut().priority_update(early, now);
        self.judge(now, verdict)
    }

    /// Whether the client's stream credit, as it may stand soon, covers this stream: the transport
    /// may have granted what we hold back.
    fn may_open(&self, stream: StreamId) -> bool {
        let number = stream.0 / 4;
        let next = self.streams.next_id().0 / 4;
        number < next + u64::from(self.session.config().limits.request_streams_max)
    }

    /// The peer's QPACK encoder stream; sections that waited for it go on.
    fn read_encoder_stream(&mut self, now: Instant, input: &[u8]) -> Result<(), Violation> {
        self.decoder.handle_encoder_bytes(input)?;
        loop {
            let mut fields = self.session.fields();
            let limits = &self.session.config().limits;
            let Some((stream, decoded)) = self.decoder.poll_unblocked(limits, &mut fields)? else {
                self.recycle(fields);
                return Ok(());
            };
            self.unblock(now, stream, decoded, fields)?;
        }
    }
}
