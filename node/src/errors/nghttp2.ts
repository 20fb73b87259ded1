// Errors of node:http2 for a connection whose peer broke a rule of HTTP/2, by the numbers of nghttp2 (node/native/failure/nghttp2.rs).

const PROTO = 505
/** nghttp2's words, by its numbers without the sign. */
const TEXTS: Record<number, string> = {
  [PROTO]: 'Protocol error',
  524: 'Flow control error',
  902: 'The user callback function failed',
  903: 'Received bad client magic byte string',
  904: 'Flooding was detected in this HTTP/2 session, and it must be closed',
  905: 'Too many CONTINUATION frames following a HEADER frame'
}
/** The addon's number for a peer that broke too many streams, which nghttp2 has none for. */
const STREAM_ERRORS = 1
/** node:http2 ends such a session by its callback. */
const CALLBACK_FAILURE = 902

/** The code, the words and the number of the error of a session. */
export function nghttp2Error (number: number): { code: string; text: string; errno: number } {
  if (number === STREAM_ERRORS) return { code: 'ERR_HTTP2_TOO_MANY_INVALID_FRAMES', text: 'Too many invalid HTTP/2 frames', errno: -CALLBACK_FAILURE }
  return { code: 'ERR_HTTP2_ERROR', text: TEXTS[number] ?? TEXTS[PROTO]!, errno: -number }
}
