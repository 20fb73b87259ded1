// Programs that say something else with the servers of this package, and why; behind a reason, the lines
// of Node.js on which it is so.

const PUSH = 'there is no server push: browsers have given it up'
const SPLITS = 'what could split a response is refused before anything is sent'
const RESET = 'a reset is a reset: node ends the response as if it were whole'
const LENGTH = 'a body that is not as long as its head says is reset by the server, not by the client'
const WHOLE = 'what is whole in one turn goes with its length instead of in chunks'
const SIDES = 'the two sides of a stream end independently: their order says nothing'
const SENSITIVE = 'cookies that are set are not kept by compressors'
const HEAD = 'a head that was given goes, also when its stream is destroyed in the same turn'
const TOLD = 'the end of a session is told before its server\'s'
const CONTEXT = 'who reads is told in the context in which reading began, where node has none'
const STREAM = 'what breaks a stream alone ends the stream, and not its session (RFC 9113 section 5.4.2)'
const STATUS = 'a refusal says by its status what was wrong'
const STRICT = 'a request is refused before its head is told where what came with the head is wrong'
const REASONS = 'the reason beside a code of llhttp is that of the code'
const LIMITS = 'heads and targets have other bounds'
const BEHIND = 'bytes behind a request that leaves HTTP come from the socket, and not as its head'
const ONE = 'an answer that has gone in one message cannot be broken any more'

const listed = {
  'abort: a body that is longer than said': LENGTH,
  'abort: a body that is shorter than said': LENGTH,
  'abort: destroying a response': RESET,
  'async_context: events of a body': CONTEXT,
  'async_context: events of HTTP/1.1': CONTEXT,
  'context: a protocol of nobody after ALPNCallback': 'node speaks HTTP/2 whatever was chosen',
  'connection: CONNECT with bytes behind it': BEHIND,
  'connection: a chunk whose size is none, with a listener of clientError': STRICT,
  'connection: a chunk whose size is none, without one': STRICT,
  'connection: a coding that is not known, with a listener of clientError': STRICT,
  'connection: a coding that is not known, without one': STRICT,
  'connection: a connection that ends in the middle of a body': 'clientError comes behind the end of its request',
  'connection: a head that is too long, with a listener of clientError': LIMITS,
  'connection: a head that is too long, without one': LIMITS,
  'connection: a length and chunks, with a listener of clientError': REASONS,
  'connection: a method that is not known': 'methods are the program\'s affair',
  'connection: a request behind one that is malformed, without one': 'also behind an answer a refusal is sent',
  'connection: a target that is too long, with a listener of clientError': LIMITS,
  'connection: a target that is too long, without one': STATUS,
  'connection: a value with a control character, with a listener of clientError': REASONS,
  'connection: a version that is none, without one': STATUS,
  'connection: an answer in pieces': ['pieces of one turn go as one', 20, 22, 24],
  'connection: an upgrade with bytes behind it': BEHIND,
  'connection: another expectation': WHOLE,
  'connection: no host, with a listener of clientError': 'a request of HTTP/1.1 has a host (RFC 9112 section 3.2)',
  'connection: no host, without one': 'a request of HTTP/1.1 has a host (RFC 9112 section 3.2)',
  'connection: no version, with a listener of clientError': 'HTTP/0.9 is not served',
  'connection: no version, without one': 'HTTP/0.9 is not served',
  'connection: removeHeader of the framing': 'the framing is not removed',
  'connection: requests of HTTP/1.0': 'an answer that is whole has its length, also of HTTP/1.0',
  'connection: socket.setTimeout': 'an answer that was given goes, also where its socket is destroyed in the same turn',
  'details: fields beyond maxHeadersCount are not told': ['a refusal says that it has no body', 22, 24, 26],
  'details: values with blanks around them': 'blanks around a value are left out; node sends them, and clients leave the field out',
  'http1: a target in absolute form is the url': 'the host beside such a target is ignored (RFC 9112 section 3.2.2)',
  'http1: a request behind the last that a connection may have': 'behind an answer that ends its connection there is none (RFC 9112 section 9.6)',
  'http1: an expectation that is unknown is refused': WHOLE,
  'request: the authority may come as host': 'a host stands for the authority everywhere (RFC 9113 section 8.3.1)',
  'respond: fields of several values': SENSITIVE,
  'respond: values with line breaks never reach the client': SPLITS,
  'respond: push to a client that takes it': PUSH,
  'response: a write after the end is an error': ONE,
  'server: the listener given to createServer listens to requests': 'compatible requests are made without a listener of streams',
  'server: a rejected listener of requests is a 500 with captureRejections': RESET,
  'server: a rejected listener of streams is a 500 with captureRejections': [HEAD, 22, 26],
  'server: settings reach the client': 'frames have at most 16 KiB',
  'session: close lets an open stream finish': [TOLD, 24, 26],
  'session: destroy ends everything at once': [HEAD, 22, 24, 26],
  'session: destroy with an error tells it': [HEAD, 22, 24, 26],
  'stream: close without a code': [HEAD, 22, 26],
  'stream: destroy without an error': RESET,
  'stream: destroy with an error': [HEAD, 22, 26],
  'stream: an error without a listener is not caught': [HEAD, 22, 26],
  'session: settings of a fresh session': 'streams and heads of a client are bounded by default',
  'stream: pseudo-headers of a raw head, in the order that the client has sent': 'pseudo-headers have one order',
  'stream: the events of a whole exchange, in their order': SIDES,
  'stream: the events of a GET, in their order': SIDES,
  'stream: the events of a GET that is read, in their order': SIDES,
  'stream: close with a code reaches the client': RESET,
  'stream: close with an error code is an error': RESET,
  'wire: a body that is longer than said': [STREAM, 22, 24, 26],
  'wire: a preface that is none': ['a connection is a session once its preface has come', 22, 24, 26],
  'wire: a request of many fields': ['the next request of such a client may be served', 22, 24, 26],
  'wire: a window of zero for a stream': [STREAM, 22, 24, 26],
  'wire: data behind the end of a request': [STREAM, 22, 24, 26]
}

/** The differences on one Node.js version. */
export function differentOn (version) {
  const line = Number.parseInt(version.replace(/^v/, ''), 10)
  const entries = Object.entries(listed).map(([name, why]) => [name, [why].flat()])
  const isSo = ([, [, ...lines]]) => lines.length === 0 || lines.includes(line)
  return Object.fromEntries(entries.filter(isSo).map(([name, [reason]]) => [name, reason]))
}
