// Programs that say something else with the dispatchers of this package than with undici 8, and why.

const SIGNAL = 'the reason of a signal counts, also where it had aborted before'
const LISTENED = 'a stream of a pipeline that nobody listens to does not end the process'
const METHOD = 'CONNECT is for a host and a port (RFC 9110 section 9.3.6)'
const CODE = 'a connection that ends has no code of a stream'
const TWICE = 'a body that is read a second time rejects: undici fails an assertion'

export const different = {
  'body: arrayBuffer a second time': TWICE,
  'body: blob a second time': TWICE,
  'body: bytes a second time': TWICE,
  'body: json a second time': TWICE,
  'body: text a second time': TWICE,
  'body: formData': 'undici has none',
  'errors: a stream that is reset with 8 behind its head': 'a body that was reset is not whole',
  'errors: a session that is destroyed': CODE,
  'errors: a session that is destroyed with an error': CODE,
  'errors: a session whose socket is destroyed': CODE,
  'errors: what is no HTTP': 'the error has a code',
  'heads: a query beside a query': 'the error has the class and the code of other refusals',
  'heads: names in capitals': 'crumbs of cookies become one line, whose name is in lower case',
  'body: text while the web stream is read': 'the refusal says why',
  'callbacks: connect: a signal that has aborted': SIGNAL,
  'callbacks: request: a signal that has aborted': SIGNAL,
  'callbacks: stream: a signal that has aborted': SIGNAL,
  'callbacks: upgrade: a signal that has aborted': SIGNAL,
  'pipeline: a handler that returns a text': LISTENED,
  'pipeline: a handler that returns nothing': LISTENED,
  'pipeline: a handler that returns null': LISTENED,
  'pipeline: a handler whose stream fails': LISTENED,
  'pipeline: a handler whose stream is destroyed': LISTENED,
  'pipeline: a signal that has aborted': SIGNAL,
  'tunnel: a 101 that nobody asked for': 'it breaks a rule of HTTP (RFC 9110 section 15.2.2), and has the code of that',
  'tunnel: a CONNECT of a path': METHOD,
  'tunnel: connect: an answer that opens nothing': 'only a 2xx opens a tunnel (RFC 9110 section 9.3.6)',
  'tunnel: upgrade: what is opened': 'the status is said too',
  'tunnel: what a server sends for an upgrade': 'a CONNECT that becomes a tunnel does not ask for the end of its connection',
  'uploads: an iterable of nothing': 'a head goes out before its body is read'
}
