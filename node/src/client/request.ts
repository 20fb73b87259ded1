// `request(url, options)`: the direct path for callers with a URL.

import type { Answer } from './calls/answer'
import { request as requestOn, type AnyDispatcher, type Dispatching, type RequestOptions } from './calls/api'
import { Agent } from './client'
import { InvalidArgumentError } from '../errors'
import type { AnswerCallback } from './calls/direct_request'

export type UrlOptions = Omit<RequestOptions, 'path' | 'origin'> & { dispatcher?: AnyDispatcher | undefined }

/** The parts of URLs that were asked for lately: nearly every URL comes again, and parsing is dear. */
const RECENT_MAX = 512
const recent = new Map<string, { origin: string; path: string }>()

function partsOf (url: string | URL): { origin: string; path: string } {
  const text = typeof url === 'string' ? url : String(url)
  const known = recent.get(text)
  if (known !== undefined) return known
  // What is no URL at all is Node.js's own error, ERR_INVALID_URL, as with undici.
  const parsed = new URL(text)
  if (parsed.protocol !== 'http:' && parsed.protocol !== 'https:') {
    throw new InvalidArgumentError('Invalid URL protocol: the URL must start with `http:` or `https:`.')
  }
  const parts = { origin: parsed.origin, path: parsed.pathname + parsed.search }
  if (recent.size >= RECENT_MAX) recent.clear()
  recent.set(text, parts)
  return parts
}

let agent: Agent | undefined
/** The dispatcher of calls that name none. */
export function defaultAgent (): Agent { return (agent ??= new Agent()) }

/** A response, its body to be read. A POST where there is a body and no method. */
export function request (url: string | URL, options?: UrlOptions): Promise<Answer>
export function request (url: string | URL, options: UrlOptions, callback: AnswerCallback): void
export function request (url: string | URL, options: UrlOptions = {}, callback?: AnswerCallback): Promise<Answer> | undefined {
  let parts: { origin: string; path: string }
  try {
    parts = partsOf(url)
  } catch (error) {
    if (callback === undefined) return Promise.reject(error as Error)
    queueMicrotask(() => { callback(error as Error, { opaque: options?.opaque } as never) })
    return undefined
  }
  const { dispatcher = defaultAgent(), ...rest } = options
  const asked = { ...rest, origin: parts.origin, path: parts.path, method: options.method ?? (options.body == null ? 'GET' : 'POST') }
  return requestOn(dispatcher as Dispatching, asked, callback)
}
