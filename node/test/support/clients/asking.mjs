// One request over each face of a client, and what its user saw.
import assert from 'node:assert/strict'
import { fetchOver, request } from 'trunkline'
import { assertOneOf, named as nameOf } from '../servers/ended.mjs'
import { tableWithKinds } from '../servers/wire.mjs'

/** The body of an answer to a request that was sent again. */
export const AGAIN = 'again'

/** The error of an outcome as `request` names it: `fetch` has it as the cause of its own. */
function named (face, outcome, error) {
  if (face !== 'fetch') return nameOf(error)
  assert.equal(nameOf(error), `TypeError without a code: ${outcome === 'failed' ? 'fetch failed' : 'terminated'}`)
  return nameOf(error.cause)
}

/** A response as its user sees it: its outcome, the received bytes, and the error. */
async function read (face, status, body) {
  const decoder = new TextDecoder()
  let text = ''
  try {
    assert.equal(status, 200)
    for await (const chunk of body ?? []) text += decoder.decode(chunk, { stream: true })
  } catch (error) {
    if (error instanceof assert.AssertionError) throw error
    return ['cut', text, named(face, 'cut', error)]
  }
  return [text === AGAIN ? 'again' : 'whole', text, 'no error']
}

const calls = {
  async request (url, dispatcher) {
    const { statusCode, body } = await request(url, { dispatcher, method: 'POST', body: 'pay=1' })
    return [statusCode, body]
  },
  async fetch (url, dispatcher) {
    // A body would be a stream, which is not sent again once something of it was read.
    const { status, body } = await fetchOver(dispatcher)(url, { method: 'POST' })
    return [status, body]
  }
}
export const faces = Object.keys(calls)

/** A POST over a face: its outcome, the received bytes, and the error. */
export const ask = (face, url, dispatcher) => seenBy(face, calls[face](url, dispatcher))

/** A call over a face, which resolves with a status and a body: its outcome, the received bytes, and the error. */
export async function seenBy (face, call) {
  const answered = await call.catch(error => error)
  return answered instanceof Error ? ['failed', '', named(face, 'failed', answered)] : read(face, ...answered)
}

/** The errors of users, by the kind of the end and the outcome. */
const errors = tableWithKinds('Errors of clients in JavaScript')

/** Asserts that a user saw what a cell of a table says: the outcome, the bytes that came before the end, and an error of
 * its kind. */
export function assertCell (face, cell, body, [outcome, text, error], about) {
  const [expected, kind] = cell.split(': ')
  assert.equal(outcome, expected, `${about}: ${error}`)
  if (expected === 'cut' || expected === 'whole') assert.equal(text, body, `what came is delivered: ${about}`)
  if (kind === undefined) return assert.equal(error, 'no error', about)
  assertOneOf(errors[kind.split(',')[0]][outcome], error, `${kind}, ${about}`)
}
