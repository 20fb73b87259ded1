// Codes and reasons of close frames of WebSockets (RFC 6455 sections 5.5.1 and 7.4). Programs close one end of a relay with what the other was closed
// with, codes that are reported and never sent (1005, 1006) among it, and with messages of errors of any length.

/** Bytes of a reason: a control frame has 125 at most, two of them for the code. */
const REASON_BYTES_MAX = 123
/** The first and the last code of the protocol, and of libraries and programs. */
const OF_PROTOCOL = [1000, 1014] as const
const OF_PROGRAMS = [3000, 4999] as const
/** Codes of the protocol that mean nothing yet, or that there was none. */
const NEVER_SENT = new Set([1004, 1005, 1006])

const isWithin = (code: number, [first, last]: readonly [number, number]): boolean => code >= first && code <= last

/** The code that goes into the frame; undefined: one that no frame may have, so that the frame is empty. */
export function sentCode (code: number): number | undefined {
  if (typeof code !== 'number') throw new TypeError(`the code of a close is a value of the type ${typeof code}; it must be a number`)
  const may = Number.isInteger(code) && (isWithin(code, OF_PROTOCOL) || isWithin(code, OF_PROGRAMS)) && !NEVER_SENT.has(code)
  return may ? code : undefined
}

/** The whole characters of a reason that a frame has room for. */
export function sentReason (reason: string): string {
  const bytes = Buffer.from(reason)
  if (bytes.length <= REASON_BYTES_MAX) return reason
  let end = REASON_BYTES_MAX
  // A byte that goes on with a character is 10xxxxxx.
  while ((bytes[end]! & 0xc0) === 0x80) end--
  return bytes.toString('utf8', 0, end)
}
