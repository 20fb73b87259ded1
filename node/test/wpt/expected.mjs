// The tests that are left out by rule, and the subtests that Node.js's own fetch passes and ours does not, each with its reason.

/** Rules by which a file is left out: a pattern of its path or its text, and why. */
const RULES = [
  [/\/crashtests\//, null, 'it looks for crashes of a browser'],
  [/idlharness/, null, 'it needs the interfaces of a browser as a whole'],
  [/navigat|\/multi-globals\/|\/nosniff\/|media|sniffing\//, null, 'it needs a document'],
  [null, /\bdocument\b|\biframe\b|navigator\.serviceWorker|XMLHttpRequest|new Worker\(|new Image\b|window\.open/, 'it needs a document, a frame, a service worker or an XMLHttpRequest']
]

/** Files of which some subtests need what the rules name, and others need fetch alone. */
const RUN_IN_PART = /api-and-duplicate-headers|resources-with-0x00-in-header/

/** Why a file is left out; undefined: it is run. */
export function leftOut (file, text) {
  if (RUN_IN_PART.test(file)) return undefined
  return RULES.find(([path, content]) => (path === null || path.test(file)) && (content === null || content.test(text)))?.[2]
}

/** By a part of `file: name of the subtest`. */
const EXPECTED = [
  ['request-forbidden-headers.any.js: Host is a forbidden', 'the host that the test sets is a URL, which is no authority: ours refuses it, Node.js sends it'],
  ['request-upload.h2.any.js: Streaming upload with body containing', 'Node.js goes over HTTP/1.1 there; over HTTP/2 the response may be there before the stream is read']
]

/** Why ours does not pass it; undefined: it is not expected. */
export function expected (file, name) {
  return EXPECTED.find(([part]) => `${file}: ${name}`.includes(part))?.[1]
}
