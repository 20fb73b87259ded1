// The requests of a soak, each drawn from a seed, and their allowed outcomes.
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { setTimeout as rest } from 'node:timers/promises'
import { viaNew, viaOld } from '../support/clients/dispatch.mjs'

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function random (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * Allowed failures of a request that the server or we cut short. A fault of one exchange may hit
 * all others on its connection.
 */
const CODES = new Set([
  'UND_ERR_SOCKET', 'UND_ERR_HEADERS_TIMEOUT', 'UND_ERR_BODY_TIMEOUT', 'UND_ERR_ABORTED', 'UND_ERR_REFUSED',
  'UND_ERR_CONNECT_TIMEOUT', 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH', 'UND_ERR_QUEUE_TIMEOUT', 'HPE_INVALID', 'ERR_HTTP2_ERROR',
  'ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ERR_HTTP2_STREAM_ERROR', 'UND_ERR_INFO'
])

/** True for an error that a fault explains. */
export function isExplained (error) {
  for (let cause = error; cause != null; cause = cause.cause) {
    if (CODES.has(cause.code) || cause.name === 'TimeoutError' || cause.name === 'AbortError') return true
  }
  return false
}

/** Faults and their shares; what is left is `ok`. */
const FAULTS = [['slow', 0.1], ['hang', 0.02], ['half', 0.02], ['reset', 0.04], ['cut', 0.01], ['goaway', 0.01], ['refuse', 0.03], ['garbage', 0.005], ['trailers', 0.05], ['echo', 0.2]]

/** How long a request waits for a head, and for each piece of a body: long enough for the slow, and what
 * hangs must not be most of the load. */
const PATIENCE_MS = 500

/** The kinds that a soak of any length has met, protocol and fault. */
export const KINDS = ['h1', 'h1s', 'h2'].flatMap(protocol => [...FAULTS.map(([word]) => word), 'ok'].map(word => `${protocol} ${word}`)).concat('h3 echo', 'h3 bytes')

/** Draws one request: what it is, of which kind, and how to ask it. `ask` resolves when it is over, to a
 * word for the tally. */
export function draw (next, { faults, origin, agents, fetch }) {
  const upTo = most => Math.floor(next() * most)
  const pick = list => list[upTo(list.length)]
  const protocol = pick(['h1', 'h1s', 'h2', 'h2', 'h2', 'h3'])
  let left = next()
  let [word] = FAULTS.find(([, share]) => (left -= share) < 0) ?? ['ok']
  // The engine's own origin, which is the one with HTTP/3, has no faults: we make them.
  if (protocol === 'h3' && word !== 'echo') word = 'bytes'
  const length = next() < 0.1 ? upTo(400_000) : upTo(20_000)
  const path = { slow: `/slow/${length}/${upTo(100)}`, half: `/half/${length + 2}`, reset: `/reset/${length}`, cut: `/cut/${length}`, ok: `/ok/${length}`, bytes: `/bytes/${length + 1}` }[word] ?? `/${word}`
  const base = { h1: `http://localhost:${faults.h1}`, h1s: `https://localhost:${faults.h1s}`, h2: `https://localhost:${faults.h2}`, h3: origin.https }[protocol]
  const asked = { origin: base, path, method: 'GET', headersTimeout: PATIENCE_MS, bodyTimeout: PATIENCE_MS }
  let sent = ''
  if (word === 'echo' || next() < 0.2) {
    sent = 'y'.repeat(length)
    asked.method = 'POST'
    const half = length >> 1
    asked.body = pick([
      () => sent,
      () => Buffer.from(sent),
      () => Readable.from([Buffer.from(sent.slice(0, half)), Buffer.from(sent.slice(half))]),
      () => (async function * () { yield sent.slice(0, half); await rest(upTo(5)); yield sent.slice(half) })()
    ])()
  }
  if (next() < 0.15) asked.signal = AbortSignal.timeout(upTo(60))
  const expected = { ok: length, slow: length, bytes: length + 1, goaway: 1, trailers: 1, echo: sent.length }[word]
  const how = pick([byRequest, byRequest, byDispatch, slowly, dropped, ...(protocol === 'h3' ? [] : [byFetch])])
  const agent = pick(protocol === 'h3' ? agents.h3 : agents.tcp)
  const what = `${how.name} of ${asked.method} ${protocol} ${path}`
  const seen = bytes => { if (expected !== undefined) assert.equal(bytes, expected, what) }
  return { what, kind: `${protocol} ${word}`, ask: () => how({ agent, asked, fetch, pick, seen }) }
}

async function byRequest ({ agent, asked, seen }) {
  const { statusCode, body } = await agent.request(asked)
  const text = await body.text()
  if (statusCode === 200) seen(text.length)
  return 'request'
}

async function byDispatch ({ agent, asked: { signal, ...asked }, pick, seen }) {
  const { status, body } = await pick([viaNew, viaOld])(agent, asked)
  if (status === 200) seen(body.length)
  return 'dispatch'
}

/** Reads in pieces, and rests between them. */
async function slowly ({ agent, asked, seen }) {
  const { statusCode, body } = await agent.request(asked)
  let got = 0
  for await (const chunk of body) {
    got += chunk.length
    if (got % 3 === 0) await rest(1)
  }
  if (statusCode === 200) seen(got)
  return 'slow reader'
}

/** Wants nothing of the body after its first piece. */
async function dropped ({ agent, asked }) {
  const { body } = await agent.request(asked)
  for await (const chunk of body) if (chunk.length > 0) break
  return 'dropped'
}

async function byFetch ({ asked: { origin, path, method, body, signal }, fetch, seen }) {
  const answer = await fetch(origin + path, { method, body, signal: signal ?? AbortSignal.timeout(2 * PATIENCE_MS) })
  const text = await answer.text()
  if (answer.status === 200) seen(text.length)
  return 'fetch'
}
