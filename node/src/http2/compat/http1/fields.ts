// Heads of HTTP/1.1 as node:http writes them, read into the fields of a response; the last one is remembered.

import { REASON_AT } from '../upgrade'

/** Fields of a connection (RFC 9113 section 8.2.2): those of HTTP/1.1 go as node:http says them, except for the framing,
 * which is the engine's. */
const OF_CONNECTIONS = new Set(['connection', 'keep-alive', 'transfer-encoding'])

/** The head that was read last, which is mostly the next one too. */
export const lastHead = { head: '', spells: false, text: '', isWide: false }
/** Characters that have other bytes as UTF-8 than as Latin-1. */
const WIDE = /[\x80-\uffff]/

/** Fields of a head of HTTP/1.1, as they cross the channel; `spells`: names as they are. */
export function fieldsOf (head: string, spells: boolean): string {
  if (head !== lastHead.head || spells !== lastHead.spells) Object.assign(lastHead, { head, spells, text: readFields(head, spells), isWide: spells && WIDE.test(head) })
  return lastHead.text
}

/** Characters of Latin-1 whose bytes are those of `text` as UTF-8. */
export const asUtf8 = (text: string): string => Buffer.from(text, 'utf8').toString('latin1')

function readFields (head: string, spells: boolean): string {
  let text = ''
  for (const line of head.split('\r\n').slice(1)) {
    const colon = line.indexOf(':')
    if (colon <= 0) continue
    const lower = line.slice(0, colon).toLowerCase()
    const name = spells ? line.slice(0, colon) : lower
    if (spells ? lower !== 'transfer-encoding' : !OF_CONNECTIONS.has(lower)) text += `${text === '' ? '' : '\0'}${name}\0${line.slice(colon + 1).trim()}`
  }
  return text
}

/** The reason phrase in the first line, which is `HTTP/1.1 200 OK`. */
export function reasonOf (head: string): string { return head.slice(REASON_AT, head.indexOf('\r\n')) }
