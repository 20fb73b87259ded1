// Differences from undici 8 in the tables, with their reasons. `*` stands for any text.

const CHECKED = 'every option is checked when a dispatcher is made'
const CODE = 'the error has a code'
const CLASS = 'the error has the class and the code of other refusals'
const FRAMING = 'one rule, and one class of error, for what the length of a message contradicts (RFC 9112 section 6.3)'
const HTTP_1_0 = 'a transfer-encoding in a message of HTTP/1.0 is a faulty framing (RFC 9112 section 6.1)'
const FRAGMENT = 'a fragment is not sent (RFC 9110 section 7.1)'
const ABSOLUTE = 'the path of a URL without one is a slash (RFC 9110 section 4.2.3)'

export const different = {
  'options: Client, options: *': CHECKED,
  'options: Client, interceptors: *': 'undici 8 passes over what undici 7 had: the refusal says to use compose',
  'options: Client, pipelining: *': CHECKED,
  'options: Client, maxConcurrentStreams: 1.5': CHECKED,
  'options: Client, maxConcurrentStreams: NaN': CHECKED,
  'options: Client, maxConcurrentStreams: Infinity': CHECKED,
  "options: Client, socketPath: '*'": CHECKED,
  'options: Pool, pipelining: *': CHECKED,
  'options: Pool, connections: 1.5': CHECKED,
  'options: Pool, clientTtl: *': CHECKED,
  'options: Agent, connections: *': CHECKED,

  'requests: throwOnError: false': 'undici 6 and 7 send false, and a program may use both',
  'requests: body: []': 'a head goes out before its body is read',
  'requests: highWaterMark: 1.5': 'the call refuses it, not the answer when it comes',
  'requests: typeOfService: 1': 'requests share connections',
  'requests: headers, a symbol': CLASS,
  'requests: headers, a function': 'a function is no value of a field',
  'requests: headers, host empty': 'an http URL has a host (RFC 9110 section 4.2.1)',
  'requests: headers, proxy-connection': 'a field of a connection (RFC 9110 section 7.6.1), which HTTP/2 does not carry',
  'requests: path "/a#b", *': FRAGMENT,
  'requests: path "/a?b=c#d", *': FRAGMENT,
  'requests: path an asterisk, OPTIONS': 'OPTIONS for the server as a whole (RFC 9112 section 3.2.4)',
  'requests: path "https://other.test", *': ABSOLUTE,
  'requests: query behind *': CLASS,

  'answers: *length twice*': 'a list of equal lengths is no number (RFC 9110 section 8.6 lets a client refuse it)',
  'answers: *length asd*': CODE,
  'answers: *chunks and a length*': FRAMING,
  'answers: 1.0, length 5, fewer, FIN': 'the end of the peer is what is named, which RetryAgent repeats',
  'answers: 1.0, chunks*': HTTP_1_0,
  'answers: 200, chunks of a bad length, *': CODE,
  'answers: 205, chunks of a bad length, *': CODE,
  'answers: 299 without words, chunks of a bad length, *': CODE,
  'answers: 500 with words, chunks of a bad length, *': CODE,
  'answers: 103 first, chunks of a bad length, *': CODE,
  'answers: an answer with no HTTP': CODE,
  'answers: an answer with another version': 'HTTP/2.0 is not written so',
  'answers: an answer with a bad status': CODE,
  'answers: an answer with status *': CODE,
  'answers: an answer with a name with a space': CODE,
  'answers: an answer with no colon': CODE,
  'answers: an answer with an empty name': CODE,
  'answers: an answer with LF alone': CODE,
  'answers: an answer with a zero in a value': CODE,
  'answers: an answer with a fold': 'a client may read a folded line as one (RFC 9112 section 5.2)',
  'answers: an answer with spaces around a value': 'spaces around a value are no part of it (RFC 9110 section 5.5)',
  'answers: an answer with an encoding that is unknown': 'where a body ends is known of no coding but chunked (RFC 9112 section 6.3)',
  'answers: an answer with chunked twice': 'chunked is applied once (RFC 9112 section 6.1)',
  'answers: an answer with 101 that was not asked for': 'it breaks a rule of HTTP (RFC 9110 section 15.2.2), and has the code of that',
  'answers: an answer with 100 and 200': 'a client reads any number of 1xx before the answer (RFC 9110 section 15.2)'
}
