// Selects the part of a file that answers a request, by its conditions and its range (RFC 9110
// sections 13 and 14).

import { stat } from 'node:fs/promises'
import { checkLength } from '../../server/exchange'
import type { Exchange } from '../../server/exchange'
import type { Encoded } from '../web/response'
import type { FileBody, FilePart } from '../web/file_body'
import { isLimited } from '../../permission'

/** A status, its fields, and the part of the file that follows; null: nothing does. */
interface FilePlan { status: number; fields: string; part: FilePart | null }

const OK = 200
const PARTIAL = 206
const NOT_MODIFIED = 304
const PRECONDITION_FAILED = 412
const UNSATISFIABLE = 416

/** The validators of an answer; null: it has no such one. */
export interface Validators { etag: string | null; modified: string | null }

/** The value of a field among names and values by turns; undefined: it is not there. */
function valueIn (fields: string, name: string): string | undefined {
  const pieces = fields === '' ? [] : fields.split('\0')
  for (let at = 0; at < pieces.length; at += 2) if (pieces[at] === name) return pieces[at + 1]
  return undefined
}

function withField (fields: string, name: string, value: string): string {
  return fields === '' ? `${name}\0${value}` : `${fields}\0${name}\0${value}`
}

function withDefault (fields: string, name: string, value: string): string {
  return valueIn(fields, name) === undefined ? withField(fields, name, value) : fields
}

const opaque = (tag: string): string => tag.replace(/^\s*W\//, '').trim()
/** Tags of a list; a comma may stand within one (RFC 9110 section 8.8.3). */
const tagsIn = (list: string): string[] => list.match(/(?:W\/)?"[^"]*"/g) ?? []
const isWeak = (tag: string): boolean => tag.startsWith('W/')

/** Whether one of a list is `etag`; `strongly`: neither may be weak (RFC 9110 section 8.8.3.2). */
function matchesTag (list: string, etag: string | null, strongly: boolean): boolean {
  if (list.trim() === '*') return true
  if (etag === null) return false
  return tagsIn(list).some(tag => opaque(tag) === opaque(etag) && !(strongly && (isWeak(tag) || isWeak(etag))))
}

/** Whether it has not changed since a date; false where either date is none. */
function isUnchanged (modified: string | null, since: string): boolean { return modified !== null && Date.parse(modified) <= Date.parse(since) }

/** The status that the conditions of the request give; null: they hold (RFC 9110 section 13.2.2). */
export function refusedBy (exchange: Exchange, { etag, modified }: Validators): number | null {
  const ifMatch = exchange.joined('if-match', ', ')
  const ifUnmodified = exchange.field('if-unmodified-since')
  if (ifMatch !== undefined) {
    if (!matchesTag(ifMatch, etag, true)) return PRECONDITION_FAILED
  } else if (ifUnmodified !== undefined && modified !== null && !Number.isNaN(Date.parse(ifUnmodified)) && !isUnchanged(modified, ifUnmodified)) return PRECONDITION_FAILED
  const ifNone = exchange.joined('if-none-match', ', ')
  if (ifNone !== undefined) return matchesTag(ifNone, etag, false) ? NOT_MODIFIED : null
  const since = exchange.field('if-modified-since')
  return since !== undefined && isUnchanged(modified, since) ? NOT_MODIFIED : null
}

/** Whether a range counts: what it is a part of must be what the client has (RFC 9110 section 13.1.5). */
function rangeCounts (exchange: Exchange, { etag, modified }: Validators): boolean {
  const condition = exchange.field('if-range')
  if (condition === undefined) return true
  if (condition.includes('"')) return tagsIn(condition).length === 1 && matchesTag(condition, etag, true)
  return modified !== null && Date.parse(condition) === Date.parse(modified)
}

/** The first byte and the number of bytes that a range asks for; null: it cannot be had; undefined: it is none, or there are several, and
 * the whole is sent, as is allowed (RFC 9110 section 14.2). */
export function rangeOf (range: string | undefined, size: number): [first: number, length: number] | null | undefined {
  const found = range === undefined ? null : /^bytes=(\d*)-(\d*)$/i.exec(range.replace(/\s/g, ''))
  if (found === null) return undefined
  const [, from = '', to = ''] = found
  if (from === '' && to === '') return undefined
  if (from === '') {
    const length = Math.min(Number(to), size)
    return length === 0 ? null : [size - length, length]
  }
  const [first, last] = [Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1)]
  if (to !== '' && Number(to) < first) return undefined
  return first >= size ? null : [first, last - first + 1]
}

/** The error of the engine for what cannot be sent as a file. */
function notAFile (path: string, isFolder: boolean): Error {
  const code = isFolder ? 'EISDIR' : 'EINVAL'
  return Object.assign(new Error(`${code}: ${path} is not a file`), { code, path })
}

/** The facts of a file that the plan of its answer goes by. */
export interface FileFacts { size: number; mtimeMs: number }

/** How `encoded`, whose body is a file, answers the request of `exchange`. */
export async function filePlanOf (exchange: Exchange, encoded: Encoded): Promise<FilePlan> {
  const { path } = encoded.file as FileBody
  checkLength(encoded.fields.length + Buffer.byteLength(path))
  // Where paths are limited, `stat` is refused for one that may not be read.
  if (!isWhole(encoded) && !isLimited) return planOf(exchange, encoded, { size: 0, mtimeMs: 0 })
  const found = await stat(path)
  if (!found.isFile()) throw notAFile(path, found.isDirectory())
  return planOf(exchange, encoded, found)
}

/** Whether conditions and ranges count for an answer: its status is 200 and its body a whole file. */
function isWhole ({ status, file }: Encoded): boolean {
  return status === OK && (file as FileBody).offset === 0 && (file as FileBody).length === null
}

/** How `encoded` answers the request of `exchange` with a file of these facts. Conditions and ranges count for whole files in answers with status
 * 200 to GET and HEAD; fields that the answer has stay as they are. */
export function planOf (exchange: Exchange, encoded: Encoded, { size, mtimeMs }: FileFacts): FilePlan {
  const { status, fields } = encoded
  const { path, offset, length } = encoded.file as FileBody
  const whole: FilePlan = { status, fields, part: { path, offset, length } }
  if (!isWhole(encoded)) return whole
  let described = withDefault(fields, 'last-modified', new Date(Math.round(mtimeMs)).toUTCString())
  described = withDefault(described, 'etag', `"${size.toString(16)}-${Math.floor(mtimeMs * 1000).toString(16)}"`)
  described = withDefault(described, 'accept-ranges', 'bytes')
  const { method } = exchange
  if (method !== 'GET' && method !== 'HEAD') return { ...whole, fields: described }
  const validators = { etag: valueIn(described, 'etag')!, modified: valueIn(described, 'last-modified')! }
  const refused = refusedBy(exchange, validators)
  if (refused !== null) return { status: refused, fields: refused === NOT_MODIFIED ? described : '', part: null }
  const range = method === 'GET' && rangeCounts(exchange, validators) ? rangeOf(exchange.field('range'), size) : undefined
  if (range === null) return { status: UNSATISFIABLE, fields: `content-range\0bytes */${size}`, part: null }
  if (range === undefined) return { ...whole, fields: described }
  const [first, bytes] = range
  const partial = withField(described, 'content-range', `bytes ${first}-${first + bytes - 1}/${size}`)
  return { status: PARTIAL, fields: partial, part: { path, offset: first, length: bytes } }
}
