// The accepted differences: every program that logs something else with this package than with the original, and why.
// A key with `*` is of all programs that it fits, of which at least one differs: `of` are the beginnings of the lines that
// it covers, so that it hides no difference in another line, and `programs` is how many programs it may be of. Behind a reason in
// a list stand the lines of Node.js on which it is so; none: all. The tables of docs/guide/node-differences.md are made of this.

const LISTENED = 'a stream of a pipeline without listeners does not end the process'
const METHOD = 'CONNECT is for a host and a port (RFC 9110 section 9.3.6)'
const CODE = 'a connection that ends has no code of a stream'
const TWICE = 'a body that is read a second time rejects: undici fails an assertion'
const CHECKED = 'every option is checked when a dispatcher is made'
const CODED = 'the error has a code, as with undici 6: a RetryAgent does not send the request again'
const CLASS = 'the error has the class and the code of other refusals'
const CUT_OFF = 'a body that is cut off fails as the end of its connection, also of an answer with `connection: close`: a RetryAgent asks again'
const FRAMING = 'one rule, and one class of error, for what the length of a message contradicts (RFC 9112 section 6.3)'
const HTTP_1_0 = 'a transfer-encoding in a message of HTTP/1.0 is a faulty framing (RFC 9112 section 6.1)'
const CHUNKED = 'chunked is applied once, last and without parameters (RFC 9112 section 6.1)'
const FIELDS = 'a request with more fields than a server takes is refused, as on newer lines of Node.js'
const FRAGMENT = 'a fragment is not sent (RFC 9110 section 7.1)'
const PATH = 'a path has no fragment (RFC 9113 section 8.3.1)'
const ABSOLUTE = 'the path of a URL without one is a slash (RFC 9110 section 4.2.3)'
const PUSH = 'there is no server push: browsers have given it up'
const DANGEROUS = 'a value with CR, LF or NUL refuses its message (RFC 9113 section 8.2.1, RFC 9110 section 5.5); node leaves the field out'
const RESET = 'a reset is a reset: node ends the response as if it were whole'
const LENGTH = 'a body that is not as long as its head says is reset by the server, not by the client'
const WHOLE = 'what is whole in one turn goes with its length instead of in chunks'
const SIDES = 'the two sides of a stream end independently: their order says nothing'
const SENSITIVE = 'cookies that are set are not kept by compressors'
const HEAD = 'a head that was given goes, also when its stream is destroyed in the same turn'
const REPORTED = 'the end of a session comes before its server\'s'
const CONTEXT = 'a read calls back in the context in which reading began, where node has none'
const LISTENED_IN = 'events have the context of their reader, else that in which the server listens: in node some have none'
const STREAM = 'what breaks a stream alone ends the stream, and not its session (RFC 9113 section 5.4.2)'
const CALM = 'the code for a client that breaks or resets too many streams is ENHANCE_YOUR_CALM (RFC 9113 section 7)'
const STATUS = 'a refusal says by its status what was wrong'
const STRICT = 'a request is refused before its head is given to the program where what came with the head is wrong'
const REASONS = 'the reason beside a code of llhttp is that of the code'
const PACKET = 'the packet of an error is all of a head that came, and not its last piece'
const METHODS = 'methods are the program\'s affair'
const LAST = 'behind an answer that ends its connection there is none (RFC 9112 section 9.6)'
const WAITING = 'a stream whose client resets it without an error ends: while bytes of its answer wait, node leaves it and its server open'
const ENDED = 'a client that asks for the end of its connection gets it (RFC 9112 section 9.6)'
const HTTP_1_0_LENGTH = 'an answer that is whole has its length, also of HTTP/1.0'
const BODILESS = 'a refusal says that it has no body'
const CLOSED = 'a request that is closed does not end its body in front of the reset: a server would take it for whole'
const CODINGS = 'the framing of a response is the server\'s: a coding beside it is left out'
const HINTS = 'a hint cannot write another field or response: newer lines of Node.js check it too'
const BLANKS = 'a field whose value has blanks at an end is left out (RFC 9113 section 8.2.1), whatever strictFieldWhitespaceValidation says'
const ONE = 'an answer that has gone in one message cannot be broken any more'

const INTERIM = 'an interim head goes in front of the head'
const LAST_TURN = 'what a turn gives goes at its end'
const SOCKET_END = 'what is given in the turn in which its socket is ended goes, and its socket ends'

const FLAG = 'any value is a flag'
const SECONDS = 'times are fractions and of any length, and none is negative'
const BYTES = 'a number of bytes is a number up to 2 to the 53rd, and none is negative'
const TEXT = 'a hostname is a text'
const TYPED = 'a body has the content type of the fetch standard, and none where that gives none'
const FAILED = 'a failure is a 500 without words, also of HEAD'
const PROXY_WHY = 'the refusal of a proxy says why'
const REFUSED = 'fields of a connection are refused where a program has copied them out of `request.headers`, as by Node.js\'s own fetch'
const TOKEN = 'a subprotocol is a token (RFC 6455 section 4.1)'
const VERSION = 'the refusal of a version has a length, and its connection stays open'
const OFFERED = 'a subprotocol that a client has not offered is not sent (RFC 6455 section 4.2.2)'
const BEHIND = 'requests behind one that is being answered are answered, and a client that has ended its side gets its answer (RFC 9112 sections 9.3.2 and 9.6)'
const ASKED = 'a request is upgraded where its connection field names the upgrade, and its version has them (RFC 9110 section 7.8)'
const EARLY = 'frames that come right behind the request are kept'
const GOES = 'the pieces of a stream go as they come'
const PIECE = 'a piece that is none fails the response, behind its head by cutting it, and is reported to error'
const NONE = 'a handler gives a Response: anything else is a 500 with a message on stderr'

const DUPLEX = 'sources of Node.js are streams of requests without saying so, too'
const WHY = 'the cause says what was wrong'
const IDENTITY = 'what is given as a certificate or key has to be one'
const TOGETHER = 'a certificate and its key are given together'
const CALLBACK = 'a callback is a function'
const JOINED = 'values of a field stay apart, as on HTTP/1.1'
const TIMEOUTS = 'the words of a timeout are the same on every version'
const LATER = 'a small answer is there as a whole before its reader listens, as over HTTP/1.1'
const ENDING = 'a connection that is not used again says so'
const CUT = 'a body that was cut at its length leaves its connection in order'
const RESET_BODY = 'a body that was reset is not whole'
const SESSIONS = 'close of a server closes its sessions, as on newer lines of Node.js'

const AT_ONCE = 'a handler gets its controller at once, and may abort while there is no connection'
const MADE = 'errors are made of their words'
const EVERY = 'every dispatcher has the pipelining of its connections'
const FOREIGN = 'a class that is linked with the one of Node.js is known to Node.js, and not to a copy of undici beside it'
const NO_BODY = 'a 204 and a 304 have no body (RFC 9110 section 6.4.1)'
const OPTION = 'an option of the connection goes with its field (RFC 9110 section 10.1.4)'
const CODING = 'no transfer coding but chunked is decoded, so that none is asked for (RFC 9110 section 10.1.4)'

const WRITTEN = 'what was written before the end goes: node drops pieces behind the first, and those of a session that is destroyed'
const DROPPED = 'a session that its server destroys drops what was written and is not in frames yet: node does so in other orders'
const UNANSWERED = 'the end of a stream without a head is an answer: with node its client waits for one'
const TRAILERS = 'trailers of a response are sent also where its stream gave the head'
const FRAMES = 'frames have at most 16 KiB'
const UNCONNECTED = 'before there is a connection the call does nothing: node fails by an error of its own'
const SETTINGS = 'a callback of settings is called where its session ends before they are acknowledged'
const BEGUN = 'a request that was made before its session closed is sent'

/** Differences from undici 6, 7 and 8 alike. */
const OF_EACH_LINE = {
  'retries: *, what is no HTTP: *': { reason: CODED, programs: 12 },
  'breaks: *: what is no HTTP, *': { reason: CODED, of: ['client: failed'], programs: 12 },
  'breaks: *: 101 without an upgrade, *': { reason: 'an upgrade that does not say to what fails as others do: undici fails an assertion', of: ['client: failed'], programs: 12 },
  'cuts: *: close, a length, *': { reason: CUT_OFF, of: ['client: ', 'events: disconnect'], programs: 27 },
  'cuts: *: close, chunks, *': { reason: CUT_OFF, of: ['client: ', 'events: disconnect'], programs: 81 },
  'connects: *, 204 with *length': { reason: NO_BODY, of: ['client: got'], programs: 4 },
  'connects: *, 304 with *length': { reason: NO_BODY, of: ['client: got'], programs: 4 },
  'heads: *with te: trailers': { reason: OPTION, of: ['server: connection'], programs: 4 },
  'heads: *with TE in capitals': { reason: OPTION, of: ['server: connection'], programs: 4 },
  'heads: *with te: gzip': { reason: CODING, of: ['server: ', 'client: '], programs: 4 },
  'heads: *with te: trailers and others': { reason: CODING, of: ['server: ', 'client: '], programs: 4 },
  'heads: *with te twice': { reason: CODING, of: ['server: ', 'client: '], programs: 4 },
  'heads: *with cookies in a *list': { reason: 'a request has one field of cookies (RFC 6265 section 5.4)', of: ['server: connection'], programs: 8 }
}

const PRIORITIES = 'a priority on no stream, or on itself, is an error (RFC 9113 section 6.3, RFC 7540 section 5.3.1)'
const NO_NAME = 'a name that is none refuses its message (RFC 9113 section 8.2.1); node leaves the field out'
const BEHIND_END = 'a frame behind the end of its stream ends the connection (RFC 9113 section 5.1)'
const NO_RULE = 'what breaks no rule does no harm: a frame has any number of settings (RFC 9113 section 6.5), an acknowledgement of no PING means nothing, and an ALTSVC that is malformed is passed over (RFC 7838 section 4)'
const REQUIRED = 'a server that requires HTTP/1.1 is asked by it (RFC 9113 section 7)'

/** Rules of HTTP/2 that a server broke, at undici's calls and at sessions of node:http2 alike. */
const BROKEN = {
  'violations: *a head with a name with a space': { reason: NO_NAME, of: ['first: '], programs: 3 },
  'violations: *a head with an empty name': { reason: NO_NAME, of: ['first: '], programs: 3 },
  'violations: *a head with a value with *': { reason: DANGEROUS, of: ['first: '], programs: 6 },
  'violations: *a head behind DATA': { reason: STREAM, programs: 3 },
  'violations: *a head that is none, but DATA that ends*': { reason: STREAM, programs: 6 },
  'violations: *a head and more than its content-length*': { reason: STREAM, programs: 6 },
  'violations: *DATA with padding of all and more before the head': { reason: STREAM, of: ['first: '], programs: 2 },
  'violations: *PRIORITY of four bytes *': { reason: STREAM, programs: 4 },
  'violations: *WINDOW_UPDATE * on the stream *': { reason: STREAM, programs: 8 },
  'violations: *3,000 pieces without a byte before the head': { reason: STREAM, programs: 2 },
  'violations: *a head and * behind its end': { reason: BEHIND_END, programs: 6 },
  'violations: *a head that depends on itself': { reason: PRIORITIES, of: ['first: '], programs: 3 },
  'violations: *PRIORITY on *': { reason: PRIORITIES, programs: 8 },
  'violations: *ALTSVC *': { reason: NO_RULE, programs: 8 }
}

/** By set; the sets of node:http over TLS follow. */
export const differences = {
  'connect generated': {
    ...BROKEN,
    'violations: PUSH_PROMISE *': { reason: PUSH, programs: 2 },
    'calls: session, *, request, signal, *': { reason: 'a request with a signal that is none begins no stream', of: ['process: uncaughtException'], programs: 60 },
    'calls: session, connecting, setNextStreamID, *': { reason: UNCONNECTED, of: ['call: setNextStreamID'], programs: 8 },
    'calls: session, connecting, setLocalWindowSize, *': { reason: UNCONNECTED, of: ['call: setLocalWindowSize'], programs: 8 },
    'values: *with a line break': { reason: DANGEROUS, of: ['stream: '], programs: 9 },
    'ends: ours, an open body, behind the answer, the client: session goaway 2': 'a session closes once',
    'effects: request, the path "/*#*': { reason: FRAGMENT, programs: 3 },
    'effects: request, the scheme "http:"': 'a scheme has no colon (RFC 3986 section 3.1), and goes without that of `url.protocol`',
    'effects: request, a content-length of 10, bytes: more, *': { reason: STREAM, of: ['session: ', 'stream: ', 'the next'], programs: 2 },
    'effects: request, one that waits for capacity when GOAWAY comes': 'a request for which there was no room has no stream to finish',
    'effects: maxOutstandingSettings 1': SETTINGS,
    'effects: settings, enableConnectProtocol': 'a setting that means nothing of a client is not sent',
    'effects: settings, maxConcurrentStreams': 'a setting that means nothing of a client is not sent',
    'effects: settings, maxFrameSize': FRAMES,
    'effects: settings, maxHeaderListSize below the head of a request that is under way': 'a bound of heads holds once it is set: with node for requests behind it',
    'writes: *, two writes, *': { reason: WRITTEN, of: ['server: bytes'], programs: 81 },
    'writes: *, a write and an end with a text, *': { reason: WRITTEN, of: ['server: bytes'], programs: 90 },
    'writes: *, session *': { reason: WRITTEN, of: ['server: bytes'], programs: 210 },
    'ends: *, before the head, the client: session close': BEGUN,
    'ends: *, before the head, the client: session goaway': BEGUN
  },
  'connect by sequence': {
    'requests: *: session.settings, then session.destroy*': { reason: SETTINGS, of: ['answers: settings'], programs: 6 },
    'requests: *: session.request, then session.close': { reason: BEGUN, of: ['server, /another', 'another 0'], programs: 2 },
    'requests: POST: write*, later close*': { reason: CLOSED, of: ['server, /'], programs: 12 },
    'requests: POST: write 100 kB, then close*': { reason: WRITTEN, of: ['client: ', 'stage: ', 'stream, sending', 'server, '], programs: 4 }
  },
  client: {
    'body: arrayBuffer a second time': TWICE,
    'body: blob a second time': TWICE,
    'body: bytes a second time': TWICE,
    'body: json a second time': TWICE,
    'body: text a second time': TWICE,
    'body: formData': 'undici has none',
    'body: for await with setEncoding of base64': ['the last bytes of a text in base64 are not lost', 22],
    'errors: a stream that is reset with 8 behind its head': 'a body that was reset is not whole',
    'errors: a session that is destroyed': CODE,
    'errors: a session that is destroyed with an error': CODE,
    'errors: what is no HTTP': 'the error has a code',
    'heads: a query beside a query': 'the error has the class and the code of other refusals',
    'body: text while the web stream is read': 'the refusal says why',
    'pipeline: a handler that returns a text': LISTENED,
    'pipeline: a handler that returns nothing': LISTENED,
    'pipeline: a handler that returns null': LISTENED,
    'pipeline: a handler whose stream fails': LISTENED,
    'pipeline: a handler whose stream is destroyed': LISTENED,
    'tunnel: upgrade: what is opened': 'the status is said too',
    'tunnel: what a server sends for an upgrade': 'a CONNECT that becomes a tunnel does not ask for the end of its connection',
    'wire: an absolute path': 'the host field is that of the URL (RFC 9112 section 3.2.2)',
    'wire: connect': 'the host field is the target (RFC 9112 section 3.2.3), and a CONNECT that becomes a tunnel does not ask for the end of its connection',
    'wire: connect to a slash': METHOD,
    'wire: connection with other options': OPTION,
    'wire: expectContinue': 'it applies on every version',
    'wire: an empty host': 'an http URL has a host (RFC 9110 section 4.2.1)',
    'wire: HEAD, *': { reason: 'the answer to HEAD has no body (RFC 9110 section 9.3.2): its connection is used again', of: ['wire: HEAD'], programs: 2 },
    'wire: GET, a*': { reason: ENDING, of: ['wire: GET'], programs: 3 },
    'wire: DELETE, a*': { reason: ENDING, of: ['wire: DELETE'], programs: 3 },
    'wire: OPTIONS, a*': { reason: ENDING, of: ['wire: OPTIONS'], programs: 3 },
    'limits: POST, *content-length 5, not strict': { reason: CUT, of: ['client: connections'], programs: 3 }
  },
  'client documented': {
    'calls: connect: a tunnel': METHOD
  },
  'client by page': {
    'agents: Agent: options that are refused': CHECKED,
    'agents: asyncDispose': 'an extension: a dispatcher is closed at the end of its scope',
    'bodies: *, a body used, then used again': TWICE,
    'bodies: h2, each mixin': 'a body that was read is used, as over HTTP/1.1',
    'bodies: errors: the table': MADE,
    'bodies: errors: default words': MADE,
    'bodies: errors: what is no HTTP': CODED,
    'caches: h2, fields of an answer from the store': JOINED,
    'calls: *, request: headers of each form': CLASS,
    'calls: *, request: headers that are refused': CLASS,
    'calls: h2, request: options that are refused': CLASS,
    'calls: *, request: query': CLASS,
    'calls: *, pipeline: handlers that fail': LISTENED,
    'calls: *, dispatch: a handler sees each event': AT_ONCE,
    'calls: *, dispatch: a handler that throws in each event': AT_ONCE,
    'calls: h1, dispatch: pause before the first piece': 'pieces that were held come when resume has returned, as over HTTP/2',
    'calls: h2, stream: factories that fail': 'a stream that has ended takes no body, as over HTTP/1.1',
    'clients: h2, events: a server that ends the connection': 'a dispatcher that was busy says once that it is free',
    'clients: h2, destroy in the callback of a request': 'a body ends behind its dispatcher, as over HTTP/1.1',
    'clients: h2, maxHeaderSize': 'the bound of a head applies on every version',
    'clients: h2, strictContentLength: a body of another length': FRAMING,
    'clients: options: each with a value that is none': CHECKED,
    'fetches: *, fields that are sent': 'the user agent is that of the fetch of Node.js',
    'ways: h1, ProxyAgent: a tunnel and its credentials': 'a tunnel carries more than one request',
    'ways: *, ProxyAgent: refusals': 'the refusal says why',
    'ways: h2, channels: *': { reason: 'messages of channels are the same on every version', of: ['client: request:'], programs: 4 },
    'ways: expectContinue over HTTP/2, beside no body': 'a request without a body expects no 100 (Continue) (RFC 9110 section 10.1.1)',
    'ways: ProxyAgent: the fields of a CONNECT': 'a CONNECT that becomes a tunnel asks neither for the end of its connection nor for its persistence (RFC 9112 appendix C.2.2)',
    'ways: ProxyAgent: options that are refused': CLASS,
    'ways: best practices: fetch of Node.js with a dispatcher': ['a dispatcher takes handlers of every line of undici', 22, 24]
  },
  'client cases': {
    'http2: a response that is longer than its content-length': STREAM,
    'http2: * of a Blob': { reason: 'the type of a Blob is that of the body, as over HTTP/1.1', of: ['server: '], programs: 7 },
    'http2: a length that is too *': { reason: FRAMING, of: ['client: object'], programs: 2 },
    'http2: set-cookie, a list, and a date in the answer': JOINED,
    'http2: upgrade()': 'an upgrade to anything but a WebSocket goes on HTTP/1.1',
    'http2: the controller of a handler': 'raw fields are a list on every version',
    'suite: ends: without close_notify, of a body that the end delimits': 'an end of TLS without close_notify may be that of an attacker, and a body that ends by it is not whole (RFC 9112 section 9.8)',
    'suite: limits: maxHeaderSize, with many small fields': 'maxHeaderSize bounds all bytes of a head: undici counts those of names and values',
    'suite: calls: without a method': 'an extension: a request without a method is a GET',
    'suite: connections: of requests one after another': 'a connection whose answer has been read takes the next request: undici opens a second one',
    'suite: connections: that resume a TLS session': 'a session ticket is used once (RFC 8446 appendix C.4), and OpenSSL gives two of them with a whole handshake alone',
    'life: AsyncLocalStorage in each call': 'each call has the context that it was made in: in undici some have that of another',
    'life: header lists: flat, of pairs, Headers, Map, generators': CLASS,
    'life: the sizes of a HEAD, a 204 and a 304': 'the answer to HEAD has no body (RFC 9110 section 9.3.2): its connection is used again'
  },
  'client throws': {
    'throws: a listener of drain, *': { reason: 'a listener that throws does not stop the dispatcher', of: ['again: '], programs: 8 },
    'throws: a listener of connect, h2, *': { reason: 'a listener that throws does not stop the dispatcher', of: ['client: failed'], programs: 1 },
    'throws: a listener of data, h2, *': { reason: LATER, of: ['client: failed', 'process: uncaughtException'], programs: 2 },
    'throws: the handler of pipeline behind its reader, h2, *': { reason: LATER, of: ['client: failed', 'process: uncaughtException'], programs: 2 }
  },
  'client of each line, undici 8': { ...OF_EACH_LINE },
  'client of each line, undici 7': {
    ...OF_EACH_LINE,
    'mocks: request of fields that are raw *, replied with 200': { reason: 'values of a field stay apart', of: ['client: 200'], programs: 24 }
  },
  'client of each line, undici 6': {
    ...OF_EACH_LINE,
    'mocks: *': { reason: 'a mock of undici 6 is given texts and answers in the forms of newer lines', of: ['client: ', 'matcher: '], programs: 80 }
  },
  'client stacked': {
    "exchanges: undici's ProxyAgent with Pools: a request, and closed": 'a connector is called behind the turn of the request: a pool that is closed in that turn takes no CONNECT any more',
    'options: *, h2: maxRequestsPerClient *': { reason: 'maxRequestsPerClient counts on HTTP/2 too', of: ['client: connections'], programs: 9 },
    'options: Pool, *: members': { reason: EVERY, of: ['client: pipelining'], programs: 3 },
    'options: Agent, *: members': { reason: EVERY, of: ['client: pipelining'], programs: 3 },
    'crossings: *: its members': { reason: 'extensions: cookies and params of requests, trailers and toJSON of responses', of: ['object: ->'], programs: 5 },
    'crossings: *: formData': { reason: WHY, of: ['object: failed'], programs: 5 },
    "crossings: FormData: the body of undici's fetch": FOREIGN,
    "crossings: Headers: the headers of undici's fetch": FOREIGN,
    'crossings: FormData: the body of a Response of Node.js': [FOREIGN, 24],
    'crossings: FormData: the body of a Request of Node.js': [FOREIGN, 24]
  },
  'fetch generated': {
    'requests: *, a Readable, without duplex': { reason: DUPLEX, of: ['server: ', 'fetch: '], programs: 2 },
    'requests: *, an async iterable, without duplex': { reason: DUPLEX, of: ['server: ', 'fetch: '], programs: 2 },
    'responses: cut in a body without a length by resetAndDestroy, *': { reason: 'a body that only the end of its connection delimits is not whole where that end is a reset', of: ['fetch: body'], programs: 4 },
    'responses: cut * by resetAndDestroy, *': { reason: 'a reset has the code of the system, as on newer lines of Node.js', of: ['fetch: failed', 'fetch: body failed'], programs: 40, lines: [22] },
    'ends: *: a Readable that gives what is no byte, *': { reason: 'a source that cannot be sent is destroyed', of: ['fetch: destroyed'], programs: 4 },
    'ends: a dispatcher that *': { reason: 'a dispatcher that fails with anything is a network error: undici fails an assertion, or reads a member of nothing', of: ['fetch: failed'], programs: 6 },
    'words: fetch of port 0': 'port 0 is a bad port, as others that nothing of HTTP listens on: undici tries to connect',
    'words: Request, *': { reason: 'the refusal names what was given', of: ['call: '], programs: 7 },
    'redirects: * with a ReadableStream': { reason: WHY, of: ['fetch: failed'], programs: 56 }
  },
  'client generated': {
    ...BROKEN,
    'violations: *SETTINGS of 100 settings *': { reason: NO_RULE, programs: 4 },
    'violations: *PING that acknowledges nothing *': { reason: NO_RULE, programs: 4 },
    'violations: *3,000 PINGs *': { reason: 'PINGs have a budget: node takes any number of them', programs: 4 },
    'violations: *a head with the status 99': { reason: 'a request whose answer has a status below 100 fails: under Node.js 22 it never ends', programs: 3, lines: [22] },
    'violations: *a head with two content-lengths': { reason: FRAMING, of: ['first: failed'], programs: 3 },
    'violations: *a head that ends, with a content-length': { reason: FRAMING, of: ['first: failed'], programs: 3 },
    'violations: *a head of 200 kB': { reason: 'a head of more CONTINUATION frames than are allowed ends its connection, and every request on it with the same error', of: ['first: failed'], programs: 3 },
    'violations: *RST_STREAM with NO_ERROR in the body': { reason: RESET_BODY, of: ['first: '], programs: 2 },
    'violations: *RST_STREAM with CANCEL in the body': { reason: RESET_BODY, of: ['first: '], programs: 2 },
    'violations: *RST_STREAM with HTTP_1_1_REQUIRED *': { reason: REQUIRED, programs: 4 },
    'violations: *GOAWAY with HTTP_1_1_REQUIRED *': { reason: REQUIRED, programs: 8 },
    'violations: *GOAWAY with NO_ERROR behind the first stream *': { reason: 'what a GOAWAY leaves out goes on another connection at once: with undici it waits for the requests that are left', of: ['second: ', 'server: '], programs: 4 },
    'violations: *GOAWAY with REFUSED_STREAM *': { reason: 'the last stream of a GOAWAY says what was left out, and not its code (RFC 9113 section 6.8)', programs: 8 },
    'violations: *GOAWAY behind more streams than before *': { reason: 'the event says by which rule the connection has ended', of: ['events: '], programs: 4 },
    'proxies: *: an interim head first, *': { reason: 'interim heads come before the answer, also of a proxy (RFC 9110 section 15.2)', of: ['client: ', 'proxy: ', 'origin: '], programs: 14 },
    'tunnels: *: an interim head first': { reason: 'interim heads come before the answer (RFC 9110 section 15.2): undici takes one for the answer', of: ['client: '], programs: 12 },
    'proxies: *: an end *the head, *': { reason: PROXY_WHY, of: ['client: first', 'proxy: '], programs: 42 },
    'proxies: fields, *: fields, some': { reason: 'a field of a request takes the place of the one that the proxy gets else', of: ['proxy: '], programs: 2 },
    'proxies: *: what is no HTTP, *': { reason: PROXY_WHY, of: ['client: first'], programs: 14 },
    'exchanges: *, h2*: headersTimeout': { reason: TIMEOUTS, of: ['client: failed'], programs: 24 },
    'exchanges: *, h2*: bodyTimeout': { reason: TIMEOUTS, of: ['client: failed'], programs: 24 },
    'exchanges: *, h3*: headersTimeout': { reason: TIMEOUTS, of: ['client: failed'], programs: 8 },
    'exchanges: *, h3*: bodyTimeout': { reason: TIMEOUTS, of: ['client: failed'], programs: 8 },
    'exchanges: pipeline, h2*: CANCEL before the head': { reason: 'a stream that is reset by CANCEL is named so in every call', of: ['client: failed'], programs: 8 },
    'exchanges: *: CANCEL in the body': { reason: RESET_BODY, of: ['client: body', 'client: failed'], programs: 48 },
    'exchanges: *: NO_ERROR in the body': { reason: RESET_BODY, of: ['client: body', 'client: failed'], programs: 48 },
    'certificates: *: what is none': { reason: IDENTITY, of: ['client: ', 'events: '], programs: 8 },
    'certificates: *: a PFX file with another passphrase': { reason: IDENTITY, of: ['client: ', 'events: '], programs: 8 },
    'certificates: *: a PFX file that is none': { reason: IDENTITY, of: ['client: ', 'events: '], programs: 8 },
    'certificates: *: one with the key of another': { reason: 'a certificate and a key that do not belong together are an option that is wrong', of: ['client: failed', 'events: '], programs: 8 },
    'certificates: *: one without its key': { reason: TOGETHER, of: ['client: '], programs: 8 },
    'certificates: *: a key alone': { reason: TOGETHER, of: ['client: '], programs: 8 },
    'certificates: *: minVersion of none': { reason: CHECKED, of: ['client: ', 'events: '], programs: 10 },
    'certificates: h1, *, a certificate is required: none': { reason: 'the alert of the server is named, as on HTTP/2', of: ['client: failed'], programs: 2 },
    'exchanges: *: fields of several values': { reason: JOINED, of: ['client: head'], programs: 50 },

    'options: Client, options: *': { reason: CHECKED, of: ['new: refused', 'new: taken'], programs: 12 },
    'options: Client, interceptors: *': { reason: 'undici 8 passes over what undici 7 had: the refusal says to use compose', of: ['new: refused', 'new: taken'], programs: 13 },
    'options: Client, pipelining: *': { reason: CHECKED, of: ['new: refused', 'new: taken'], programs: 9 },
    'options: Pool, pipelining: *': { reason: CHECKED, of: ['new: refused', 'new: taken'], programs: 9 },
    'options: Pool, clientTtl: *': { reason: CHECKED, of: ['new: refused', 'new: taken'], programs: 10 },
    'options: Agent, connections: *': { reason: CHECKED, of: ['new: refused', 'new: taken'], programs: 11 },

    'requests: throwOnError: false': 'undici 6 and 7 send false, and a program may use both',
    'requests: highWaterMark: 1.5': 'the call refuses it, not the answer when it comes',
    'requests: typeOfService: 1': 'requests share connections',
    'requests: headers, a symbol': CLASS,
    'requests: headers, a function': 'a function is no value of a field',
    'requests: headers, host empty': 'an http URL has a host (RFC 9110 section 4.2.1)',
    'requests: headers, proxy-connection': 'a field of a connection (RFC 9110 section 7.6.1), which HTTP/2 does not carry',
    'requests: path "/a#b", *': { reason: FRAGMENT, of: ['server: GET', 'server: OPTIONS'], programs: 2 },
    'requests: path "/a?b=c#d", *': { reason: FRAGMENT, of: ['server: GET', 'server: OPTIONS'], programs: 2 },
    'requests: path an asterisk, OPTIONS': 'OPTIONS for the server as a whole (RFC 9112 section 3.2.4)',
    'requests: path "https://other.test", *': { reason: ABSOLUTE, of: ['server: GET', 'server: OPTIONS'], programs: 2 },
    'requests: query behind *': { reason: CLASS, of: ['client: failed'], programs: 2 },

    'answers: *length twice*': { reason: 'a list of equal lengths is no number (RFC 9110 section 8.6 lets a client refuse it)', of: ['client: failed'], programs: 17 },
    'answers: *length asd*': { reason: CODED, of: ['client: failed'], programs: 17 },
    'answers: *chunks and a length*': { reason: FRAMING, of: ['client: failed'], programs: 17 },
    'answers: 1.0, length 5, fewer, FIN': 'the end of the peer is what is named, which RetryAgent repeats',
    'answers: 1.0, chunks*': { reason: HTTP_1_0, of: ['client: 200', 'client: body', 'client: failed'], programs: 10 },
    'answers: 200, chunks of a bad length, *': { reason: CODED, of: ['client: body'], programs: 2 },
    'answers: 205, chunks of a bad length, *': { reason: CODED, of: ['client: body'], programs: 2 },
    'answers: 299 without words, chunks of a bad length, *': { reason: CODED, of: ['client: body'], programs: 2 },
    'answers: 500 with words, chunks of a bad length, *': { reason: CODED, of: ['client: body'], programs: 2 },
    'answers: 103 first, chunks of a bad length, *': { reason: CODED, of: ['client: body'], programs: 2 },
    'answers: an answer with no HTTP': CODED,
    'answers: an answer with another version': 'HTTP/2.0 is not written so',
    'answers: an answer with a bad status': CODED,
    'answers: an answer with status *': { reason: CODED, of: ['client: failed'], programs: 2 },
    'answers: an answer with a name with a space': CODED,
    'answers: an answer with no colon': CODED,
    'answers: an answer with an empty name': CODED,
    'answers: an answer with LF alone': CODED,
    'answers: an answer with a zero in a value': CODED,
    'answers: an answer with a fold': 'a client may read a folded line as one (RFC 9112 section 5.2)',
    'answers: an answer with spaces around a value': 'spaces around a value are no part of it (RFC 9110 section 5.5)',
    'answers: the codings chunked, *': { reason: CHUNKED, of: ['client: '], programs: 4 },
    'answers: the codings chunked,, *': { reason: 'empty elements of a list are none (RFC 9110 section 5.6.1)', of: ['client: '], programs: 2 },
    'answers: the codings chunked;a=b, *': { reason: CHUNKED, of: ['client: '], programs: 2 },
    'answers: the codings "chunked", *': { reason: CHUNKED, of: ['client: '], programs: 2 },
    'answers: an answer with 100 and 200': 'a client reads any number of 1xx before the answer (RFC 9110 section 15.2)'
  },
  server: {
    'abort: a body that is longer than said': LENGTH,
    'abort: a body that is shorter than said': LENGTH,
    'abort: destroying a response': RESET,
    'async_context: events of a body': CONTEXT,
    'async_context: events of HTTP/1.1': CONTEXT,
    'context: a protocol that is none after ALPNCallback': 'node speaks HTTP/2 whatever was chosen',
    'connection: a chunk whose size is none, with a listener of clientError': STRICT,
    'connection: a chunk whose size is none, without one': STRICT,
    'connection: a coding that is not known, with a listener of clientError': STRICT,
    'connection: a coding that is not known, without one': STRICT,
    'connection: a head that is too long, with a listener of clientError': PACKET,
    'connection: a head that is too long, without one': BODILESS,
    'http1: a head longer than maxHeaderSize': [BODILESS, 24, 26],
    'http1: a head just above 16 KiB': BODILESS,
    'connection: a length and chunks, with a listener of clientError': REASONS,
    'connection: a method that is not known': METHODS,
    'connection: a request behind one that is malformed, without one': 'also behind an answer a refusal is sent',
    'connection: a target that is too long, with a listener of clientError': PACKET,
    'connection: a value with a control character, with a listener of clientError': REASONS,
    'connection: a version that is none, without one': STATUS,
    'connection: an answer in pieces': ['pieces of one turn go as one', 20, 22, 24],
    'connection: another expectation': WHOLE,
    'connection: no host, with a listener of clientError': ['a request of HTTP/1.1 has a host (RFC 9112 section 3.2)', 20, 22],
    'connection: no host, without one': ['a request of HTTP/1.1 has a host (RFC 9112 section 3.2)', 20, 22],
    'connection: no version, with a listener of clientError': 'HTTP/0.9 is not served',
    'connection: no version, without one': 'HTTP/0.9 is not served',
    'texts: settings by value': 'settings are checked where the server is made; node checks them when its first session begins',
    'connection: removeHeader of the framing': 'the framing is not removed',
    'connection: requests of HTTP/1.0': HTTP_1_0_LENGTH,
    'details: fields beyond maxHeadersCount are not told': [BODILESS, 22, 24, 26],
    'details: values with blanks around them': 'blanks around a value are left out; node sends them, and clients leave the field out',
    'http1: requests of many fields, *': { reason: FIELDS, lines: [20] },
    'http1: requests of many fields, maxHeadersCount 5': [BODILESS, 22, 24, 26],
    'http1: a target in absolute form is the url': 'the host beside such a target is ignored (RFC 9112 section 3.2.2)',
    'http1: a request behind the last that a connection may have': LAST,
    'http1: an expectation that is unknown is refused': WHOLE,
    'respond: fields of several values': SENSITIVE,
    'wire: a request whose value has a line break': [DANGEROUS, 22, 24, 26],
    'wire: trailers whose value has a line break': [DANGEROUS, 22, 24, 26],
    'respond: push to a client that takes it': PUSH,
    'response: a write after the end is an error': ONE,
    'server: a rejected listener of requests is a 500 with captureRejections': RESET,
    'server: a rejected listener of streams is a 500 with captureRejections': [HEAD, 22, 26],
    'server: settings reach the client': 'frames have at most 16 KiB',
    'session: close lets an open stream finish': [REPORTED, 24, 26],
    'session: destroy ends everything at once': [HEAD, 22, 24, 26],
    'session: destroy with an error tells it': [HEAD, 22, 24, 26],
    'sockets: an answer without a body ends with its head': 'what is whole in one turn ends with its last frame: node sends an empty one behind it',
    'sockets: resetAndDestroy of the socket of a session': ['a reset is a reset, as on newer lines of Node.js', 20, 22],
    'sockets: the GOAWAYs of a session that closes': 'a GOAWAY that says that no more are taken comes before the one with the last stream (RFC 9113 section 6.8)',
    'stream: close without a code': [HEAD, 22, 26],
    'stream: destroy without an error': RESET,
    'stream: destroy with an error': [HEAD, 22, 26],
    'stream: an error without a listener is not caught': [HEAD, 22, 26],
    'session: settings of a fresh session': 'streams and heads of a client are bounded by default',
    'stream: the events of a whole exchange, in their order': { reason: '`finish` is emitted for what was written, also where the request has ended before it', of: ['writes: '] },
    'stream: close with a code reaches the client': RESET,
    'stream: close with an error code is an error': RESET,
    'wire: a body that is longer than said': [STREAM, 22, 24, 26],
    'wire: a preface that is none': ['a connection is a session once its preface has come', 22, 24, 26],
    'wire: a request of many fields': ['the next request of such a client may be served', 22, 24, 26],
    'wire: a window of zero for a stream': [STREAM, 22, 24, 26],
    'wire: data behind the end of a request': [STREAM, 22, 24, 26]
  },
  'server of node:http': {
    'server: maxRequestsPerSocket: requests behind the last': { reason: 'nothing follows a response with `connection: close` (RFC 9112 section 9.6): `dropRequest` is emitted, and the 503 of node is not sent', of: ['client: '] },
    'request: a method in small letters': METHODS,
    'request: of 1001 fields': [FIELDS, 20],
    'request: a target in absolute form': 'the host beside such a target is ignored (RFC 9112 section 3.2.2)',
    'request: a host twice': 'a request of HTTP/1.1 has one host (RFC 9112 section 3.2)',
    'request: a fragment': 'a target has no fragment (RFC 9112 section 3.2)',
    'request: a blank more': 'one blank is between the parts of a request line (RFC 9112 section 3)',
    'request: the preface of HTTP/2 where http2 is off': STATUS,
    'request: HTTP/1.2': STATUS,
    'request: HTTP/2.0': 'HTTP/2.0 is not written so',
    'request: a body behind Connection: close and more': LAST,
    'request: an expectation of HTTP/1.0': HTTP_1_0_LENGTH,
    'request: chunks of HTTP/1.0': HTTP_1_0,
    'request: gzip, chunked': 'a coding that is not known is refused (RFC 9112 section 6.1)',
    'request: a high-water mark': 'high-water marks are those of the engine',
    'response: cork and end': ['a body with a length has no chunks', 22, 24],
    'response: headers behind the head': [INTERIM, 20, 22],
    'response: state through its life': 'writableLength counts what waits behind the connection',
    'response: useChunkedEncodingByDefault': WHOLE,
    'response: a length that is too *': { reason: LENGTH, of: ['client: '], programs: 2 },
    'response: *: an empty message, *': { reason: 'an empty reason phrase is that of the status', of: ['client: '], programs: 12 },
    'response: *: 204 with *': { reason: 'a response that has no body does not frame one (RFC 9110 section 8.6)', of: ['client: '], programs: 24 },
    'response: *: 304 with chunks, *': { reason: 'a response that has no body does not frame one (RFC 9110 section 8.6)', of: ['client: '], programs: 12 },
    'response: HEAD: chunks, *': { reason: 'a response that has no body does not frame one (RFC 9110 section 8.6)', of: ['client: '], programs: 3 },
    'response: *: several codings, *': { reason: CODINGS, of: ['client: '], programs: 12 },
    'response: *: a coding as a list, *': { reason: CODINGS, of: ['client: '], programs: 12 },
    'response: *: content-length without a number, *': { reason: 'a content-length is a number', of: ['client: '], programs: 12 },
    'response: *: a length*, *': { reason: LENGTH, of: ['client: '], programs: 9 },
    'response: *: a connection that stays, *': { reason: ENDED, of: ['client: '], programs: 12 },
    'response: *: a keep-alive of our own, *': { reason: ENDED, of: ['client: '], programs: 12 },
    'response: *: an upgrade, *': { reason: ENDED, of: ['client: '], programs: 12 },
    'response: HTTP/1.0: *': { reason: HTTP_1_0_LENGTH, of: ['client: '], programs: 146 },
    'heads: early hints, *': { reason: HINTS, of: ['client: '], programs: 9, lines: [20, 22] },
    'raw: *': { reason: 'an answer that is written by hand to a socket is framed by the server', of: ['client: '], programs: 12 },
    'tunnel_clients: *, a text was sent, reset, *': { reason: 'a socket whose client resets it has the error of that, as on newer lines of Node.js', of: ['server: '], programs: 4, lines: [20, 22] },
    'response: early hints that cannot be': [HINTS, 20, 22],
    'response: information of each status': ['an interim head whose status has no name has no reason phrase', 24, 26],
    'cuts: a body that is cut, its client ends behind the answer': 'a request that has its answer gets no second one, for the rest of its body',
    'sockets: the error of a chunk that is none': STRICT,
    'sockets: the error of a request that is malformed behind another': 'also behind an answer a refusal is sent',
    'sockets: bytesWritten behind a write': ['bytes that a response has written count at once', 26],
    'server: clientError is answered': 'bytesParsed counts whole messages',
    'server: requestTimeout without a listener': BODILESS,
    'options: option maxHeaderSize, 1*': { reason: BODILESS, of: ['client: '], programs: 2 },
    'options: member maxHeadersCount, *': { reason: BODILESS, of: ['client: '], programs: 3, lines: [22, 24, 26] },
    'server: an upgrade that is refused': BODILESS,
    'server: timeout with a listener': 'the bytes of a connection are those of HTTP until a request leaves it',
    'server: close while a request is open': ENDING,
    'server: half-open is allowed': ENDING,
    'sequences: *: write*, then socket.end': { reason: SOCKET_END, of: ['client: ', 'callbacks: '], programs: 6, lines: [26] },
    'sequences: *: socket.end, then *': { reason: SOCKET_END, of: ['client: ', 'callbacks: ', 'server: ', 'response: ', 'request: ', 'clientError: '], programs: 24 },
    'sequences: *, then write*': { reason: 'a write behind the end of its socket calls back with the error, as on newer lines', of: ['server: write', 'callbacks: written'], programs: 24, lines: [20, 22, 24] },
    'sequences: *, * writeContinue': { reason: INTERIM, of: ['client: ', 'server: ', 'response: '], programs: 40, lines: [20, 22] },
    'sequences: *, * writeEarlyHints': { reason: INTERIM, of: ['client: ', 'server: ', 'response: '], programs: 40, lines: [20, 22] },
    'request: a limit of heads': BODILESS,
    'server: a head that is too long without a listener': BODILESS,
    'refusals: a head that is too long, no listener, *': { reason: BODILESS, of: ['client: '], programs: 2 },
    'signals: a body that is cut, its listener answers, its client ends': ['a request that has its answer gets no second one, for the rest of its body', 24, 26],
    'counts: *': { reason: FIELDS, of: ['server: ', 'client: '], programs: 80, lines: [20] },
    'contexts: *': { reason: LISTENED_IN, of: ['later: '], programs: 27 },
    'contexts: requests *, a context entered in its listener': { reason: 'what a listener enters is of its request alone, as on newer lines of Node.js', of: ['begins: ', 'later: '], lines: [20, 22], programs: 2 },
    'contexts: an upgrade, *': { reason: LISTENED_IN, of: ['begins: ', 'later: '], lines: [20, 22], programs: 3 },
    'contexts: CONNECT, *': { reason: LISTENED_IN, of: ['begins: ', 'later: '], lines: [20, 22], programs: 3 },
    'upgrades: a body *': { reason: 'the body of an upgrade is decoded, and comes by its socket', of: ['socket: close'], programs: 20, lines: [20, 22, 24] },
    'server: an answer in the turn of a half-open client': ENDING
  },
  'server generated': {
    'effects: maxHeaderListPairs 10, more': STATUS,
    'moments: stream: destroy with an error in finish': 'finish says that all was written: until all was sent, an error resets the stream with its code',
    'moments: stream: finished at its close, a body that was read': ['a stream that is whole has finished', 20, 22, 24],
    'effects: maxSettings 2, more': ['a connection that its peer has broken ends: this line of node:http2 leaves it open', 20],
    'effects: maxSendHeaderBlockLength, none, trailers of 64 KiB': 'trailers that cannot be sent fail their stream: with node its client takes the response for whole',
    'effects: settings, maxFrameSize': FRAMES,
    'heads: *, a path, "/*#*': { reason: PATH, programs: 6 },
    'heads: request, trailers, a name in capitals': RESET_BODY,
    'heads: request, trailers, a pseudo-header': RESET_BODY,
    'heads: request, trailers, connection': RESET_BODY,
    'heads: *a line feed*': { reason: DANGEROUS, programs: 18 },
    'heads: *, strict false': { reason: BLANKS, of: ['server: '], programs: 24, lines: [22, 24, 26] },
    'effects: streamResetBurst 1': CALM,
    'effects: maxSessionInvalidFrames 1, *': { reason: CALM, of: ['client: GOAWAY'], programs: 2 },
    'effects: maxSessionRejectedStreams 1, ten': CALM,
    'effects: maxSessionRejectedStreams 20, ten': 'a stream beyond the limit of streams is refused alone (RFC 9113 section 5.1.2)',
    'closes: *, a whole answer to a body: *': { reason: RESET_BODY, of: ['request'], programs: 49 },
    'closes: *: server.close, then session.close': { reason: 'the callback of a session that is closed with its server is called', of: ['session called'], programs: 14, lines: [24, 26] },
    'closes: h1 over TLS, *: server.close*': { reason: 'idle connections of HTTP/1.1 end with their server, as those of node:https', of: ['server', 'called'], programs: 30 },
    'closes: *: server.closeIdleConnections': { reason: 'closeIdleConnections ends sessions without a stream too', of: ['session', 'client', 'state'], programs: 20 },
    'closes: *: session.goaway*': { reason: 'a session whose client has ended its connection ends', of: ['state', 'last', 'server', 'session', 'client'], programs: 42 },
    'closes: h2*: server.close*': { reason: SESSIONS, of: ['state', 'client', 'session'], programs: 90, lines: [20, 22] },
    'failing_readers: request, *, a turn later: a listener that destroys in a microtask': { reason: 'the end of a request comes a turn behind its last piece', of: ['server: request end'], programs: 2 },
    'failing_readers: stream, pieces, a turn later: *': { reason: 'a reader that begins when all has come has the end with the last piece, as on older lines', of: ['server: ', 'client: '], programs: 4, lines: [26] },
    'failing_readers: *, at once: a listener that closes the stream*': { reason: 'a stream that is closed with the code of an error has no end, as on other lines', of: ['server: '], programs: 8, lines: [24] },
    'writes: *, close 8 and destroy': { reason: WRITTEN, of: ['client: bytes'], programs: 70, lines: [20] },
    'writes: *, two writes, *': { reason: WRITTEN, of: ['client: bytes'], programs: 81 },
    'writes: *, a write and an end with a text, *': { reason: WRITTEN, of: ['client: bytes'], programs: 90 },
    'writes: *, session *': { reason: DROPPED, of: ['client: bytes'], programs: 210, lines: [24] },
    'resets: *, an answer that waits*, no reader, without an error': { reason: WAITING, programs: 12 },
    'resets: *, a piece that waits and is the last, *': { reason: 'an answer whose end was given is over when the connection has all of it: what its client does behind that is not told', programs: 48 },
    'resets: compatible, *, a body*, a reader that pauses, *': { reason: 'a request that is paused closes behind its end, which its reader still gets', of: ['request: close'], programs: 12 },
    'calls: *Server, server.close: *': 'close gives the server, as that of net.Server does',
    'calls: *Server, server.addContext, a context: *': 'a context without a certificate is refused',
    'calls: *Server, server.setSecureContext: {}': 'a context without a certificate is refused',
    'calls: session.destroy: *': 'a session that is destroyed with an error fails, whatever is given as the error',
    'calls: stream.respond, a content-length: *': LENGTH,
    'calls: stream.additionalHeaders*': 'an interim head without a status of 1xx does not break its stream',
    'calls: stream.end: *': SIDES,
    'calls: response.writeHead, headers: *': ['a head of no fields has none', 22, 24, 26],
    'options: createSecureServer, cert: *': [IDENTITY, 22, 24, 26],
    'options: createSecureServer, key: *': [IDENTITY, 22, 24, 26],
    'options: createSecureServer, ca: *': IDENTITY,
    'options: createSecureServer, pfx: *': IDENTITY,
    'options: createSecureServer, passphrase: *': IDENTITY,
    'options: createSecureServer, SNICallback: *': CALLBACK,
    'options: createSecureServer, ALPNCallback: *': CALLBACK,
    'options: createSecureServer, handshakeTimeout: *': 'a time limit is a whole number of milliseconds',
    'options: *, paddingStrategy: *': 'nothing is padded',
    'options: settings, *': 'settings are checked when a server is made: node throws at its first session'
  },
  'server by sequence': {
    'responses: *stream.end*': { reason: UNANSWERED, programs: 150 },
    'responses: *stream.respond, *addTrailers': { reason: TRAILERS, of: ['client: trailers'], programs: 4 },
    'responses: *addTrailers, *stream.respond': { reason: TRAILERS, of: ['client: trailers'], programs: 4 },
    'responses: *: end with a text, then *': { reason: ONE, programs: 20 },
    'responses: *, * destroy': { reason: RESET, of: ['client: closed with'], programs: 36 },
    'responses: *: stream.respond, * stream.close 8': { reason: RESET, of: ['client: closed with'], programs: 4 },
    'responses: *, then session.destroy': { reason: HEAD, of: ['client: ', 'callbacks: written'], programs: 24 },
    'responses: *: write 100 kB, then stream.close*': { reason: WRITTEN, programs: 4 },
    'responses: *: end with a callback, then write with a callback': { reason: 'the callback of an end comes with the end', of: ['callbacks: '], programs: 2, lines: [20, 24] },
    'responses: *: destroy with an error, then end with a callback': { reason: 'the callback of an end is called, also behind an error', of: ['callbacks: ended'], programs: 2 },
    'responses: *, then destroy*': { reason: HEAD, of: ['client: '], programs: 48, lines: [22, 26] },
    'responses: *: write nothing, then stream.close': { reason: 'a stream that is closed ends: in the turn of its head it stays open with node', programs: 2, lines: [22, 26] },
    'responses: *, then stream.close': { reason: HEAD, of: ['client: '], programs: 20, lines: [22, 26] },
    'responses: *: end, then write*': { reason: ONE, programs: 8, lines: [22, 26] },
    'responses: *: end with a callback, then write*': { reason: ONE, programs: 8, lines: [22, 26] }
  },
  serve: {
    'options: websocket.closeOnBackpressureLimit, *': { reason: FLAG, programs: 18 },
    'options: websocket.perMessageDeflate, *': { reason: FLAG, programs: 17 },
    'options: websocket.sendPings, *': { reason: FLAG, programs: 18 },
    'options: websocket.publishToSelf, *': { reason: FLAG, programs: 18 },
    'options: idleTimeout, *': { reason: SECONDS, programs: 10 },
    'options: websocket.idleTimeout, *': { reason: SECONDS, programs: 9 },
    'options: websocket.maxPayloadLength, *': { reason: BYTES, programs: 2 },
    'options: websocket.backpressureLimit, *': { reason: BYTES, programs: 2 },
    'options: maxRequestBodySize, *': { reason: BYTES, programs: 7 },
    'options: hostname, *': { reason: TEXT, programs: 3 },
    'options: port, *': { reason: 'a port that is empty is a setting that is missing, and not a wish for any port', programs: 2 },
    'options: tls, *': { reason: 'a server that is to have TLS is not one without it', programs: 4 },
    'options: static, *': { reason: '`static` is a folder of files', programs: 3 },
    'options: routes, null': 'an option that is null is absent',
    'options: error, ""': 'a handler is a function',
    'options: websocket, ""': 'handlers of WebSockets are an object',
    'answers: json*': { reason: 'JSON is UTF-8 and has no charset (RFC 8259 section 11)', of: ['client: '], programs: 16 },
    'routes: a Response of json, *': { reason: 'JSON is UTF-8 and has no charset (RFC 8259 section 11)', of: ['client: '], programs: 10 },
    'answers: empty text, *': { reason: TYPED, of: ['client: '], programs: 8 },
    'answers: bytes, *': { reason: TYPED, of: ['client: '], programs: 8 },
    'answers: an ArrayBuffer, *': { reason: TYPED, of: ['client: '], programs: 8 },
    'answers: a Blob*': { reason: TYPED, of: ['client: '], programs: 16 },
    'answers: an async generator, *': { reason: 'the pieces of a generator go as they come', of: ['client: '], programs: 8 },
    'answers: a stream with a length, *': { reason: 'a length that a handler gives goes with its stream', of: ['client: '], programs: 8 },
    'answers: a file, *': { reason: 'a file has an etag and a date, and answers conditions', of: ['client: '], programs: 8 },
    'answers: an empty file, *': { reason: 'a file has an etag and a date, and answers conditions', of: ['client: '], programs: 8 },
    'answers: a part of a file, *': { reason: 'a 206 answers a request with a range (RFC 9110 section 15.3.7)', of: ['client: '], programs: 8 },
    'answers: a file that is missing, *': { reason: FAILED, of: ['client: '], programs: 10 },
    'answers: Response.error(), *': { reason: FAILED, of: ['client: '], programs: 10 },
    'answers: a used Response, *': { reason: FAILED, of: ['client: '], programs: 10 },
    'answers: a failure, *': { reason: FAILED, of: ['client: '], programs: 10 },
    'answers: a rejection, *': { reason: FAILED, of: ['client: '], programs: 10 },
    'answers: undefined, *': { reason: NONE, of: ['client: '], programs: 10 },
    'answers: null, *': { reason: NONE, of: ['client: '], programs: 10 },
    'answers: a string, *': { reason: NONE, of: ['client: '], programs: 10 },
    'answers: a number, *': { reason: NONE, of: ['client: '], programs: 10 },
    'answers: an object, *': { reason: NONE, of: ['client: '], programs: 10 },
    'answers: a stream that fails at once, *': { reason: 'a stream that fails before its head is a failure of the handler: Bun cuts the connection', programs: 10 },
    'answers: status 418, *': { reason: 'a status that is in no register has no reason phrase', of: ['client: '], programs: 10 },
    'answers: status 599, *': { reason: 'a status that is in no register has no reason phrase', of: ['client: '], programs: 10 },
    'answers: a reason, *': { reason: 'statusText is sent', of: ['client: '], programs: 10 },
    'answers: a field twice, *': { reason: 'fields that are given apart are sent apart', of: ['client: '], programs: 8 },
    'routes: *, error: *': { reason: FAILED, of: ['client: '], programs: 24 },
    'requests: a fragment, *': { reason: 'a target has no fragment (RFC 9112 section 3.2)', programs: 12 },
    'requests: absolute form, *': { reason: 'the absolute form names the host (RFC 9112 section 3.2.2)', of: ['server: '], programs: 2 },
    'requests: HTTP/1.0 without a host, *': { reason: 'a request without a host has the URL of the server: `new URL(request.url)` takes it', of: ['server: '], programs: 2 },
    'requests: a body of a GET, *': { reason: 'the body of a GET can be read', of: ['server: '], programs: 12 },
    'forwards: a GET with a body*, read before, *': { reason: 'the body of a GET can be read', of: ['upstream: '], programs: 4 },
    'forwards: a GET with a body in chunks, with headers *': { reason: REFUSED, programs: 4 },
    'forwards: a GET with fields of its connection, with headers *': { reason: REFUSED, programs: 4 },
    'forwards: a DELETE, *': { reason: 'a DELETE without a body says no length, as with Node.js\'s own fetch', of: ['upstream: '], programs: 20 },
    'requests: a body in chunks with trailers, *': { reason: 'trailers are read: Bun answers them with a 400 behind its response', programs: 12 },
    'requests: an options request of all, *': { reason: 'a request of the server as a whole is served', programs: 12 },
    'requests: *, blob': { reason: 'a Blob has the type of the request', of: ['server: '], programs: 9 },
    'requests: *, formData': { reason: 'a part of a form has its own type, and a form that is cut is a TypeError', of: ['server: '], programs: 2 },
    'requests: *, copy': { reason: 'a request whose body a copy has is used', of: ['server: '], programs: 11 },
    'routes: exact, /./a': 'dot segments are taken out of paths, as in `request.url`',
    'routes: escaped, /gr%c3%bcn': 'a route holds for every spelling of its path (RFC 3986 section 6.2.2)',
    'routes: a folder, * /files/../none': { reason: 'dot segments are taken out of paths, as in `request.url`', programs: 2 },
    'routes: a folder, * /files/lines': { reason: 'a folder without an index is not there, with a slash behind it or without', programs: 2 },
    'routes: *, /users/%zz': { reason: 'an escape that is none stays as it came', of: ['client: '], programs: 2 },
    'routes: not escaped, *': { reason: 'a route may be written as it is read', programs: 22 },
    'routes: a Response of a status, *': { reason: 'an etag is of a 200', of: ['client: '], programs: 10 },
    'routes: a file*': { reason: 'a file has an etag and a date, and answers conditions', of: ['client: '], programs: 16 },
    'routes: *, without fetch': { reason: 'a path without the method is a 405 with `allow` (RFC 9110 section 15.5.6)', of: ['client: '], programs: 20 },
    'cookies: *, sets one without a value': { reason: 'a cookie with an empty value is there', of: ['server: '], programs: 15 },
    'cookies: *, sets one with sameSite in capitals': { reason: 'sameSite is taken in capitals too', programs: 15 },
    'cookies: an escape that is none, *': { reason: 'an escape that is none stays as it came', of: ['server: '], programs: 8 },
    'cookies: *, in fetch': { reason: 'requests of `fetch` have cookies too', programs: 3 },
    'topics: subscribes to a number': 'a topic is taken as text',
    'topics: ends behind a close': 'terminate ends a socket that closes, with 1006',
    'topics: sends a number': 'a message is a string or bytes',
    'topics: sends an object': 'a message is a string or bytes',
    'topics: sends with a flag that is none': FLAG,
    'members: params of a request of a route': 'routers put parameters of their own on a request',
    'members: cookies of a request of a route': 'middleware puts cookies of its own on a request',
    'connections: later, *': { reason: BEHIND, programs: 37 },
    'connections: big, later, *': { reason: BEHIND, programs: 9 },
    'connections: stream, *': { reason: BEHIND, programs: 9 },
    'connections: a rejection, *': { reason: BEHIND, programs: 10 },
    'connections: a body that is not read, later, *': { reason: BEHIND, programs: 9 },
    'connections: the end of the connection, later, *': { reason: BEHIND, programs: 3 },
    'connections: HTTP/1.0 that stays, *': { reason: 'a connection of HTTP/1.0 whose client asks for it stays open (RFC 9112 section 9.3)', programs: 9 },
    'connections: a line in front, *': { reason: 'an empty line in front of a request is read over (RFC 9112 section 2.2)', programs: 10 },
    'connections: a failure, *': { reason: FAILED, of: ['client: '], programs: 10 },
    'connections: *file*': { reason: 'a file has an etag and a date, and answers conditions', of: ['client: 200'], programs: 45 },
    'stops: a request that is held, and one behind it, *': { reason: 'a server that stops answers what it has, also requests behind others', programs: 4 },
    'upgrades: *, with a subprotocol': { reason: OFFERED, of: ['client: 101'], programs: 13 },
    'upgrades: a request without connection, *': { reason: ASKED, programs: 6 },
    'upgrades: a request of HTTP/1.0, *': { reason: ASKED, programs: 6 },
    'upgrades: a request of version 8, *': { reason: 'version 8, that of the last draft, is spoken', programs: 6 },
    'upgrades: a request with a subprotocol that is none, *': { reason: TOKEN, programs: 6 },
    'upgrades: a request with an empty subprotocol, *': { reason: TOKEN, programs: 6 },
    'upgrades: a request of version 12, *': { reason: VERSION, of: ['client: '], programs: 6 },
    'upgrades: a request without a version, *': { reason: VERSION, of: ['client: '], programs: 6 },
    'upgrades: with a subprotocol, *': { reason: OFFERED, of: ['client: 101'], programs: 4 },
    'upgrades: *, a message early': { reason: EARLY, of: ['client: ', 'server: '], programs: 4 },
    'upgrades: later, *': { reason: EARLY, programs: 3 },
    'upgrades: within its options, *': { reason: 'of two upgrades of a request the outer one counts', programs: 4 },
    'upgrades: and fails, *': { reason: 'a handler that fails behind its upgrade is reported to error', programs: 4 },
    'upgrades: *, compressed': { reason: 'the window of compression is kept from message to message, as the client allows', of: ['client: '], programs: 2 },
    'streams: *, two pieces, *': { reason: GOES, of: ['client: '], programs: 21 },
    'streams: *, text, *': { reason: GOES, of: ['client: '], programs: 10 },
    'streams: *, an empty piece, *': { reason: GOES, of: ['client: '], programs: 10 },
    'streams: *, no pieces, *': { reason: GOES, of: ['client: '], programs: 10 },
    'streams: the stream of a Blob, *': { reason: GOES, of: ['client: '], programs: 5 },
    'streams: a stream of bytes, *': { reason: PIECE, programs: 6 },
    'streams: *, a number, *': { reason: PIECE, programs: 10 },
    'streams: *, null, *': { reason: PIECE, programs: 10 },
    'streams: *, an object, *': { reason: PIECE, programs: 10 },
    'streams: a bound of 100, *, caught': { reason: 'a handler that catches the failure of a body which is too long answers what it wants', of: ['client: ', 'server: rejected'], programs: 30 },
    'streams: a bound of 100, 1*': { reason: 'a response of the server has a length and a date', of: ['client: '], programs: 40 },
    'streams: a bound of 100, *json': { reason: 'an empty body is no JSON', of: ['client: '], programs: 3 },
    'sockets: *, the server closes, and sends': { reason: 'close is reported behind the handler that closes, not within it', of: ['server: '], programs: 7 },
    'sockets: *': { reason: 'the client gets the code of a rule that it broke, and `close` the words of the package ws', of: ['server: close', 'client: close'], programs: 91 }
  }
}

const ofHttp = differences['server of node:http']
const without = keys => Object.fromEntries(Object.entries(ofHttp).filter(([key]) => !keys.includes(key)))
const UNHEARD = 'a connection of HTTP/1.1 for which a server has no listener ends'

/** Reasons of the programs over TLS: those of cleartext without the ones that do not apply, and one more. */
const OVER_TLS = {
  ...without(['tunnel_clients: *, a text was sent, reset, *', 'request: a high-water mark']),
  'response: state of a response without a body': 'writableLength counts what waits behind the connection',
  'tunnels: *': { reason: 'what was written to the socket of an upgrade or a CONNECT under TLS leaves although it is destroyed next, as in cleartext', of: ['client: '], programs: 120 }
}
/** A server of node:http2 on Node.js 20 and 22 has none of the time limits of node:http, and keeps what it should close. */
const KEPT = 'connections of HTTP/1.1 end when they are due also beside allowHTTP1, as on newer lines of Node.js'
const kept = programs => ({ reason: KEPT, of: ['stage: ', 'client: '], lines: [20, 22], programs })
/** Node.js 20 and 22 call back a second end without an error. */
const SECOND_END = { reason: LAST_TURN, of: ['response: ', 'callbacks: '], lines: [20, 22], programs: 12 }

differences['server of node:https'] = {
  ...OVER_TLS,
  'sequences: *: end*, then end with a *': SECOND_END,
  'request: unique fields': 'uniqueHeaders counts under TLS too',
  'server: members': 'maxRequestsPerSocket has its default under TLS too'
}
differences['server with allowHTTP1'] = {
  ...OVER_TLS,
  'sequences: *: end*, then end with a *': SECOND_END,
  'response: *: a connection*, *': kept(9),
  'response: *: a keep-alive*, *': kept(9),
  'response: *: an upgrade*, *': kept(9),
  'cuts: a body that is cut, response.destroy*behind the answer': kept(2),
  'server: *': kept(4),
  'server: maxRequestsPerSocket: requests behind the last': { ...ofHttp['server: maxRequestsPerSocket: requests behind the last'], lines: [24, 26] },
  'sockets: *': kept(3),
  'request: a limit of heads': [BODILESS, 24, 26],
  'options: option maxHeaderSize, 1*': { reason: BODILESS, of: ['client: '], lines: [24, 26], programs: 2 },
  'server: no listener of request': UNHEARD,
  'server: clientError of a head that is too long': UNHEARD,
  'request: classes of our own': ['classes of requests and responses count, as on newer lines of Node.js', 20, 22]
}
