// Codes and layouts of the channel between JavaScript and the engine. Generated from
// `node/channel.toml` by `xtask generate`.

/** Words that all entries have. */
export const enum EntryWord {
  Number = 1,
  Position = 3,
  Length = 4,
}

/** Bytes of a body from which they cross by reference and not through the arena. */
export const BY_REFERENCE_BYTES_MIN = 16384
/** Bytes of a stream of JavaScript's that the engine has not read, from which the stream is read no further; one chunk may go beyond. As many as an HTTP/2 client grants before it knows anything of the path. */
export const STREAM_UNREAD_BYTES_MAX = 262144

/** Words of control, by their index. */
export const enum Control {
  /** Entries that JavaScript has written. */
  Submitted = 0,
  /** Entries of JavaScript's that the engine has read. */
  Read = 16,
  /** How far the engine has read their arena. */
  ReadArena = 32,
  /** 1: the engine is to be woken for new entries. */
  EngineSleeps = 48,
  /** Entries that the engine has written. */
  Completed = 64,
  /** Entries of the engine's that JavaScript has read. */
  Drained = 80,
  /** How far JavaScript has read their arena. */
  DrainedArena = 96,
  /** 1: JavaScript is to be woken for new entries. */
  ScriptSleeps = 112,
  /** 1: completions wait outside of the ring for room. */
  Overflows = 128,
  /** 1: the engine has ended before its environment and reads nothing more. */
  EngineEnded = 144,
  /** 1: JavaScript runs within a call of native code, behind which an engine on the same thread reads what was submitted. */
  ScriptCalled = 160,
  /** 1: nothing is under way any more, and native code lets the environment end behind the call that it makes. */
  Idle = 161,
}

/** How a body comes: the second byte of an entry's first word. */
export const enum Body {
  /** Behind the text in the arena; its length is the word `body`. */
  Inline = 1 << 8,
  /** Outside of the arena; the word `body` is where (`Native.put`). */
  ByReference = 2 << 8,
  /** In pieces. */
  Streaming = 3 << 8,
  /** A file: behind the text stands which, and the word `body` is how long that is. */
  File = 4 << 8,
}

/** Flags in the first word of a client's request. */
export const enum SubmissionFlag {
  /** The request asks for the connection itself. */
  LeavesHttp = 1 << 16,
  /** The number of the connection on which the request starts is wanted. */
  Watched = 1 << 17,
  /** An HTTP/1.1 connection ends behind the request. */
  EndsConnection = 1 << 18,
  /** The user says that the request may be sent twice. */
  Idempotent = 1 << 19,
  /** The user says that the request may not be sent twice. */
  NotIdempotent = 1 << 20,
  /** Nothing is pipelined behind the request before it is answered. */
  Blocks = 1 << 21,
  /** The request's path is an absolute URL, which HTTP/1.1 carries as it is. */
  AbsoluteForm = 1 << 22,
  /** HTTP/1.1: the request's head goes with the first piece of its body. */
  HeadWithBody = 1 << 23,
  /** An HTTP/1.1 connection ends behind the request, unless its body is empty. */
  BodyEndsConnection = 1 << 24,
}

/** Flags in the first word of a server's response and of its pieces. */
export const enum ResponseFlag {
  /** No body follows the head, or this is its last piece. */
  End = 1 << 16,
  /** No completion follows for the end of the exchange. */
  Quiet = 1 << 17,
  /** No date is added. */
  NoDate = 1 << 18,
  /** No content-length is added; HTTP/1.1 then sends the body in chunks. */
  NoLength = 1 << 19,
  /** HTTP/1.1: no words stand behind the status where none are given, in place of the usual ones. */
  NoReason = 1 << 20,
}

/** Flags in the first word of a completion. */
export const enum CompletionFlag {
  /** The number is free again: the last completion of its exchange. */
  Last = 1 << 8,
  /** The body lies outside of the arena, where the word `body` says. */
  ByReference = 1 << 9,
  /** The request's body is to come, or this is not its last piece. */
  More = 1 << 10,
  /** The request is one of HTTP/1.0. */
  Http10 = 1 << 11,
  /** The text lies outside of the arena, where word 3 says. */
  TextByReference = 1 << 12,
}

/** Which control frame a submission is. */
export const enum ControlFrame {
  /** Eight bytes. */
  Ping = 1,
  /** The payload of a SETTINGS frame. */
  Settings = 2,
  /** Debug data; the numbers are the error code and the last stream (0: the newest). */
  Goaway = 3,
  /** The origin, a zero, and the value; the number is the stream. */
  AltSvc = 4,
  /** Origins with a zero between two. */
  Origins = 5,
  /** The number is the bytes of the connection's receive window. */
  Window = 6,
}

/** The version of HTTP of a connection or a head; newer ones have greater codes. */
export const enum HttpVersion {
  /** No version: the client left ALPN out. */
  None = 0,
  /** Not known yet: `connected` with the one follows. */
  Unidentified = 1,
  /** HTTP/1.0. */
  Http10 = 10,
  /** HTTP/1.1. */
  Http11 = 11,
  /** HTTP/2. */
  Http2 = 20,
  /** HTTP/3. */
  Http3 = 30,
}

/** Why a handshake failed. */
export const enum HandshakeFailure {
  /** For another reason. */
  Other = 0,
  /** It took too long. */
  Timeout = 1,
  /** The client closed the connection. */
  Gone = 2,
  /** The client's bytes are no TLS. */
  NotTls = 3,
  /** No version of TLS in common. */
  Version = 4,
  /** No cipher suite in common. */
  Cipher = 5,
  /** No protocol of ALPN in common. */
  Protocol = 6,
  /** The client sent an alert. */
  Alert = 7,
  /** The client's certificate is not accepted. */
  Certificate = 8,
  /** JavaScript refused it. */
  Refused = 9,
  /** The client's bytes are a request of HTTP in cleartext. */
  CleartextRequest = 10,
  /** The client's bytes are a CONNECT in cleartext. */
  CleartextConnect = 11,
  /** The client sent no certificate. */
  NoCertificate = 12,
  /** No group for the exchange of keys in common. */
  KeyExchange = 13,
  /** No signature that the client verifies. */
  Signature = 14,
  /** A message that is not due. */
  Unexpected = 15,
  /** A message that cannot be read. */
  Malformed = 16,
  /** A record or a message that is too long. */
  TooLong = 17,
  /** A record that cannot be decrypted. */
  Undecryptable = 18,
}

/** Codes of submissions. */
export const enum Submission {
  /** A request of a client. The text is its head: method, path and authority with a zero between two, then a zero, the name, a zero and the value of each field. */
  Request = 1,
  /** A piece of a request's body: the text, or outside of the arena. */
  Piece = 2,
  /** A request's body is complete. */
  End = 3,
  /** A request's body failed. */
  Fail = 4,
  /** The exchange is cancelled. */
  Cancel = 5,
  /** Bytes of a response's body were taken. */
  Take = 6,
  /** A server's response: its head is the text, its body whole, streaming, a file or none. */
  Respond = 16,
  /** A 1xx response; the text is its fields. */
  Inform = 17,
  /** A piece of a response's body: the text, or outside of the arena. */
  Send = 18,
  /** The end of a response's body; the text is its trailers. */
  Finish = 19,
  /** The exchange ends at once. */
  Reset = 20,
  /** Bytes of a request's body were taken. */
  TakeUpload = 21,
  /** The connection with this number ends when its exchanges have. */
  ShutDown = 22,
  /** The connection with this number ends at once. */
  Abort = 23,
  /** A control frame for the peer of the connection with this number; the text is its payload. */
  Control = 24,
  /** The rest of a request's body is not read. */
  Decline = 25,
  /** Bytes of a stream of JavaScript's that carries a connection: the text, or outside of the arena. */
  StreamPiece = 64,
  /** The stream's bytes have ended in order. */
  StreamEnd = 65,
  /** The stream failed; JavaScript has the error. */
  StreamFail = 66,
  /** The stream has taken bytes. */
  StreamTake = 67,
  /** JavaScript holds its process until the engine has done what is before this. */
  Mark = 68,
}

/** Codes of completions. */
export const enum Completion {
  /** The final head of a response, and with `last` all that follows it; the text is the reason phrase and the fields, names and values by turns with a zero between two. */
  Response = 1,
  /** A 1xx head; the text is as of a response. */
  Interim = 2,
  /** A piece of a response's body: the text, or outside of the arena. */
  Data = 3,
  /** The end of a response; the text is its trailers. Without `last` its request's body goes on. */
  Ended = 4,
  /** An exchange failed; the text is JSON. */
  Failed = 5,
  /** An exchange was cancelled; nothing more comes for its number. */
  Cancelled = 6,
  /** The connection took bytes of a request's body. */
  Room = 7,
  /** The answer to a cold call with this ticket; the text is JSON. */
  Answer = 8,
  /** Something happened to a connection of the client with this number; the text is JSON. */
  ConnectionEvent = 9,
  /** A watched exchange starts on a connection. */
  Started = 10,
  /** A host name is to be resolved; the number is the question's, the text is JSON. */
  Lookup = 11,
  /** A connection is to be made by a function of the user's; the number is the question's, the text is JSON. */
  Dial = 12,
  /** The last of a request's body that went on behind its response: it has gone, or nothing takes it. */
  Released = 13,
  /** The process stays, or no longer stays, for the last bytes of a request's body, of which JavaScript has no more, behind its response. */
  Hold = 14,
  /** A request at a server. The text is method, path, authority, scheme and protocol with a zero between two, where they are not all that the client sent, or in another order than method, authority, scheme and path, a zero and a letter for each pseudo-header field, then a line feed, the name, a zero and the value of each field; last, behind an empty name and a zero, the names as HTTP/1.1 spelled them, with a comma between two. */
  Request = 16,
  /** A piece of a request's body: the text, or outside of the arena. */
  Upload = 17,
  /** The trailers of a request, which end it. */
  Trailers = 18,
  /** The connection took bytes of a response's body. */
  ResponseRoom = 19,
  /** A server's exchange is over. */
  Closed = 20,
  /** A server has a connection; the text is its addresses and what TLS agreed on. */
  Connected = 21,
  /** A server's connection is closed. */
  Disconnected = 22,
  /** The server with this number has ended. */
  ServerEnded = 23,
  /** The peer of a connection answered a PING; the text is its eight bytes. */
  Pong = 24,
  /** The file of a response cannot be sent and nothing was; the text is the error's code, a zero, and why. */
  FileFailed = 25,
  /** SETTINGS of the peer of a connection; the text is its values with a space between two. */
  SettingsReceived = 26,
  /** The peer of a connection has applied the oldest of our SETTINGS that it had not. */
  SettingsAcknowledged = 27,
  /** PING of the peer of a connection; the text is its eight bytes. */
  Ping = 28,
  /** GOAWAY of the peer of a connection; the text is its debug data. */
  Goaway = 29,
  /** A connection whose client named no protocol in its TLS handshake; its bytes are the bodies of an exchange. */
  Unnegotiated = 30,
  /** A handshake with the server of this number failed; the text is the addresses, a zero, why, a zero, and the fault of a certificate that is not accepted, as a connection has it. */
  HandshakeFailed = 31,
  /** A secret of a TLS session of the server with this number; the text is the addresses, a zero, and the line. */
  Secret = 32,
  /** The client of an exchange has ended its side of its HTTP/1.1 connection. */
  HalfClosed = 33,
  /** A ClientHello has come to the server of this number, and JavaScript chooses what its handshake goes on with; the text is JSON. */
  ClientHello = 34,
  /** A client sent a request that HTTP/1.1 does not allow, and its answer is written in bytes; the text is the code of llhttp, a zero, and the packet. */
  Malformed = 35,
  /** A connection ends because its peer broke a rule; the text is the code of llhttp. */
  Violation = 36,
  /** Another process serves on the sockets of the server with this number, which accepts no more. */
  HandedOver = 37,
  /** A process that was to take the place of the server with this number does not serve; the text is why. */
  SuccessorFailed = 38,
  /** The text came behind the next request of this connection, which asks to leave HTTP/1.1; it comes again as the first bytes of the connection that left. */
  UpgradeHead = 39,
  /** Connections that begin are to be served by a second worker of the server with this number, on the thread of an engine. */
  Overloaded = 40,
  /** The transport of a server's connection failed; the text is the code of node:net. */
  TransportFailed = 41,
  /** Bytes for a stream of JavaScript's: the text, or outside of the arena. */
  StreamWrite = 64,
  /** The engine has read bytes of a stream. */
  StreamTaken = 65,
  /** The engine writes nothing more to a stream. */
  StreamFinish = 66,
  /** The engine has let go of a stream. */
  StreamDropped = 67,
  /** The engine has done everything before a `mark`. */
  Rested = 68,
}

/** Words of `Completion.Response`. */
export const enum ResponseWord {
  /** The status code. */
  Status = 2,
  /** The length of a body behind the text, or where it lies. */
  Body = 5,
  /** One of `http_version`. */
  Version = 6,
  /** One more than the length of the reason phrase in front of the fields; 0: the usual one. */
  Reason = 7,
}

/** Words of `Completion.Interim`. */
export const enum InterimWord {
  /** The status code. */
  Status = 2,
  /** As of a response. */
  Version = 6,
  /** As of a response. */
  Reason = 7,
}

/** Words of `Completion.Data`. */
export const enum DataWord {
  /** Where it lies outside of the arena. */
  Body = 5,
}

/** Words of `Completion.Room`. */
export const enum RoomWord {
  /** How many. */
  Bytes = 2,
}

/** Words of `Completion.Started`. */
export const enum StartedWord {
  /** The lower half of the connection's number. */
  ConnectionLow = 5,
  /** The upper half. */
  ConnectionHigh = 6,
}

/** Words of `Completion.Lookup`. */
export const enum LookupWord {
  /** The client's number. */
  Client = 2,
}

/** Words of `Completion.Dial`. */
export const enum DialWord {
  /** The client's number. */
  Client = 2,
}

/** Words of `Completion.Hold`. */
export const enum HoldWord {
  /** 1: it stays; 0: it may end as far as this body is concerned. */
  Holds = 5,
}

/** Words of `Completion.Request`. */
export const enum RequestWord {
  /** The number of the exchange. */
  Serial = 2,
  /** The connection's number. */
  Connection = 5,
  /** The lengths of method, path and authority in 6, 16 and 10 bits; 0 where they do not fit. */
  Lengths = 6,
  /** The stream's id. */
  Stream = 7,
}

/** Words of `Completion.Upload`. */
export const enum UploadWord {
  /** Where it lies outside of the arena. */
  Body = 5,
}

/** Words of `Completion.ResponseRoom`. */
export const enum ResponseRoomWord {
  /** How many. */
  Bytes = 2,
}

/** Words of `Completion.Closed`. */
export const enum ClosedWord {
  /** RFC 9113 section 7; 0: in order. */
  ErrorCode = 2,
  /** 1: the peer ended it. */
  ByPeer = 5,
  /** The number of its timeline; 0: it has none. */
  Timeline = 6,
}

/** Words of `Completion.Connected`. */
export const enum ConnectedWord {
  /** The server's number. */
  Server = 2,
  /** One of `http_version`. */
  Version = 6,
  /** The stream of JavaScript's that carries it; 0: none. */
  Stream = 7,
}

/** Words of `Completion.Disconnected`. */
export const enum DisconnectedWord {
  /** The server's number. */
  Server = 2,
}

/** Words of `Completion.Pong`. */
export const enum PongWord {
  /** Microseconds from the PING to its answer. */
  Micros = 5,
}

/** Words of `Completion.FileFailed`. */
export const enum FileFailedWord {
  /** The number of the exchange. */
  Serial = 2,
}

/** Words of `Completion.SettingsAcknowledged`. */
export const enum SettingsAcknowledgedWord {
  /** Microseconds from the SETTINGS to their acknowledgement. */
  Micros = 5,
}

/** Words of `Completion.Goaway`. */
export const enum GoawayWord {
  /** RFC 9113 section 7. */
  ErrorCode = 2,
  /** The last stream that the peer serves. */
  LastStream = 5,
}

/** Words of `Completion.Unnegotiated`. */
export const enum UnnegotiatedWord {
  /** The number of the exchange. */
  Serial = 2,
  /** The connection's number. */
  Connection = 5,
}

/** Words of `Completion.HandshakeFailed`. */
export const enum HandshakeFailedWord {
  /** Which; see `handshake_failure`. */
  Failure = 2,
  /** The alert, or the ticket of a refusal of JavaScript's. */
  Alert = 5,
}

/** Words of `Completion.ClientHello`. */
export const enum ClientHelloWord {
  /** The number of the choice. */
  Ticket = 2,
}

/** Words of `Completion.Malformed`. */
export const enum MalformedWord {
  /** The number of the exchange. */
  Serial = 2,
  /** The connection's number. */
  Connection = 5,
  /** The status that says what is wrong; 0: none. */
  Status = 6,
  /** Bytes of whole messages at the front of the packet. */
  Parsed = 7,
}

/** Words of `Completion.Violation`. */
export const enum ViolationWord {
  /** The error's number in nghttp2, without its sign. */
  Error = 2,
}

/** Words of `Completion.StreamWrite`. */
export const enum StreamWriteWord {
  /** Where they lie outside of the arena. */
  Body = 5,
}

/** Words of `Completion.StreamTaken`. */
export const enum StreamTakenWord {
  /** How many. */
  Bytes = 2,
}

/** Writes the eight words of an entry. */
export interface EntryWriter {
  entry: (word0: number, word1: number, word2: number, word3: number, word4: number, word5: number, word6: number, word7: number) => void
}

/** A request of a client. The text is its head: method, path and authority with a zero between two, then a zero, the name, a zero and the value of each field. */
export function writeRequest (to: EntryWriter, flags: number, number: number, position: number, length: number, origin: number, body: number, headersTimeout: number, bodyTimeout: number): void {
  to.entry(Submission.Request | flags, number, origin, position, length, body, headersTimeout, bodyTimeout)
}

/** A piece of a request's body: the text, or outside of the arena. */
export function writePiece (to: EntryWriter, flags: number, number: number, position: number, length: number, body: number): void {
  to.entry(Submission.Piece | flags, number, 0, position, length, body, 0, 0)
}

/** A request's body is complete. */
export function writeEnd (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.End | flags, number, 0, 0, 0, 0, 0, 0)
}

/** A request's body failed. */
export function writeFail (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.Fail | flags, number, 0, 0, 0, 0, 0, 0)
}

/** The exchange is cancelled. */
export function writeCancel (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.Cancel | flags, number, 0, 0, 0, 0, 0, 0)
}

/** Bytes of a response's body were taken. */
export function writeTake (to: EntryWriter, flags: number, number: number, bytes: number): void {
  to.entry(Submission.Take | flags, number, bytes, 0, 0, 0, 0, 0)
}

/** A server's response: its head is the text, its body whole, streaming, a file or none. */
export function writeRespond (to: EntryWriter, flags: number, number: number, serial: number, position: number, length: number, body: number, status: number, reasonLength: number): void {
  to.entry(Submission.Respond | flags, number, serial, position, length, body, status, reasonLength)
}

/** A 1xx response; the text is its fields. */
export function writeInform (to: EntryWriter, flags: number, number: number, serial: number, position: number, length: number, status: number): void {
  to.entry(Submission.Inform | flags, number, serial, position, length, 0, status, 0)
}

/** A piece of a response's body: the text, or outside of the arena. */
export function writeSend (to: EntryWriter, flags: number, number: number, serial: number, position: number, length: number, body: number): void {
  to.entry(Submission.Send | flags, number, serial, position, length, body, 0, 0)
}

/** The end of a response's body; the text is its trailers. */
export function writeFinish (to: EntryWriter, flags: number, number: number, serial: number, position: number, length: number): void {
  to.entry(Submission.Finish | flags, number, serial, position, length, 0, 0, 0)
}

/** The exchange ends at once. */
export function writeReset (to: EntryWriter, flags: number, number: number, serial: number, errorCode: number): void {
  to.entry(Submission.Reset | flags, number, serial, 0, 0, 0, errorCode, 0)
}

/** Bytes of a request's body were taken. */
export function writeTakeUpload (to: EntryWriter, flags: number, number: number, serial: number, bytes: number): void {
  to.entry(Submission.TakeUpload | flags, number, serial, 0, 0, 0, bytes, 0)
}

/** The connection with this number ends when its exchanges have. */
export function writeShutDown (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.ShutDown | flags, number, 0, 0, 0, 0, 0, 0)
}

/** The connection with this number ends at once. */
export function writeAbort (to: EntryWriter, flags: number, number: number, resets: number, errorCode: number): void {
  to.entry(Submission.Abort | flags, number, 0, 0, 0, resets, errorCode, 0)
}

/** A control frame for the peer of the connection with this number; the text is its payload. */
export function writeControl (to: EntryWriter, flags: number, number: number, position: number, length: number, frame: number, first: number, second: number): void {
  to.entry(Submission.Control | flags, number, frame, position, length, 0, first, second)
}

/** The rest of a request's body is not read. */
export function writeDecline (to: EntryWriter, flags: number, number: number, serial: number): void {
  to.entry(Submission.Decline | flags, number, serial, 0, 0, 0, 0, 0)
}

/** Bytes of a stream of JavaScript's that carries a connection: the text, or outside of the arena. */
export function writeStreamPiece (to: EntryWriter, flags: number, number: number, position: number, length: number, body: number): void {
  to.entry(Submission.StreamPiece | flags, number, 0, position, length, body, 0, 0)
}

/** The stream's bytes have ended in order. */
export function writeStreamEnd (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.StreamEnd | flags, number, 0, 0, 0, 0, 0, 0)
}

/** The stream failed; JavaScript has the error. */
export function writeStreamFail (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.StreamFail | flags, number, 0, 0, 0, 0, 0, 0)
}

/** The stream has taken bytes. */
export function writeStreamTake (to: EntryWriter, flags: number, number: number, bytes: number): void {
  to.entry(Submission.StreamTake | flags, number, bytes, 0, 0, 0, 0, 0)
}

/** JavaScript holds its process until the engine has done what is before this. */
export function writeMark (to: EntryWriter, flags: number, number: number): void {
  to.entry(Submission.Mark | flags, number, 0, 0, 0, 0, 0, 0)
}
