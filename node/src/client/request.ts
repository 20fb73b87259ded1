// undici's calls for callers with a URL and no dispatcher.

import type { Duplex } from 'node:stream'
import type { Answer } from './calls/answer'
import {
  connect as connectOn, isOwn, pipeline as pipelineOn, request as requestOn, stream as streamOn, upgrade as upgradeOn,
  type AnyDispatcher, type Dispatching, type Opened, type PipelineCall, type RequestOptions, type StreamAnswer, type StreamFactory
} from './calls/api'
import { InvalidArgumentError } from '../errors'
import type { AnswerCallback } from './calls/direct_request'
import { originOf, urlOf, type UrlParts } from './options/url'
import { noteGoodPath } from './prepare/head'
import { usualDispatcher } from './process_dispatcher'
import { plainPath } from '../syntax/url_path'

type Url = string | URL | UrlParts
/** `protocol`: of an upgrade. */
type UrlOptions = Omit<RequestOptions, 'path' | 'origin'> & { protocol?: string | undefined; path?: string | undefined; dispatcher?: AnyDispatcher | undefined }

/** The parts of URLs that were asked for lately: nearly every URL comes again, and parsing is dear. */
const RECENT_MAX = 512
const recent = new Map<string, { origin: string; path: string }>()
/** The origin of the last one that was parsed: the next one mostly has it too. */
let lastOrigin: string | null = null

function partsOf (url: string | URL | UrlParts): { origin: string; path: string } {
  const text = typeof url === 'object' && !(url instanceof URL) ? null : String(url)
  const known = text === null ? undefined : recent.get(text)
  if (known !== undefined) return known
  const path = text === null || lastOrigin === null ? null : plainPath(text, lastOrigin)
  if (path !== null) {
    noteGoodPath(path)
    return { origin: lastOrigin!, path }
  }
  const parsed = urlOf(url)
  const parts = { origin: parsed.origin, path: parsed.pathname + parsed.search }
  if (text === null) return parts
  if (recent.size >= RECENT_MAX) recent.clear()
  recent.set(text, parts)
  lastOrigin = parts.origin
  return parts
}

/** The parts of a URL whose path is given apart: it has none of its own. */
function withPath (url: string | URL | UrlParts, path: unknown): { origin: string; path: string } {
  if (typeof path !== 'string') throw new InvalidArgumentError('invalid opts.path')
  return partsOf(new URL(originOf(url).origin + (path.startsWith('/') ? path : `/${path}`)))
}

/** A call of undici's at the top level: a URL, options, and what the call of a dispatcher takes behind its options. */
function callOf<T> (url: Url, given: UrlOptions | T | null | undefined, called: T | undefined): { on: Dispatching; options: RequestOptions; behind: T | undefined } {
  const [stated, behind] = typeof given === 'function' ? [null, given as T] : [given as UrlOptions | null | undefined, called]
  if (!url || (typeof url !== 'string' && typeof url !== 'object')) throw new InvalidArgumentError('invalid url')
  if (stated != null && typeof stated !== 'object') throw new InvalidArgumentError('invalid opts')
  const options = stated ?? (typeof url === 'object' && !(url instanceof URL) ? url as UrlOptions : {})
  const parts = stated?.path == null ? partsOf(url) : withPath(url, stated.path)
  const { agent: unsupported, dispatcher = usualDispatcher() } = options as UrlOptions & { agent?: unknown }
  if (unsupported) throw new InvalidArgumentError('unsupported opts.agent. Did you mean opts.client?')
  const method = options.method || (options.body ? 'PUT' : 'GET')
  if (!isOwn(dispatcher)) {
    // Its interceptors and mocks show the options to the program.
    const { agent: _, dispatcher: __, ...rest } = options as UrlOptions & { agent?: unknown }
    return { on: dispatcher as Dispatching, options: { ...rest, origin: parts.origin, path: parts.path, method }, behind }
  }
  // One copy with neither of the two, which costs a third of taking them out and copying the rest.
  const asked = { ...options as UrlOptions, agent: undefined, dispatcher: undefined, origin: parts.origin, path: parts.path, method }
  return { on: dispatcher as Dispatching, options: asked, behind }
}

/** A response, its body to be read. A PUT where there is a body and no method, as with undici. What is wrong with the URL
 * is thrown. */
export function request (url: Url, options?: UrlOptions | null): Promise<Answer>
export function request (url: Url, callback: AnswerCallback): void
export function request (url: Url, options: UrlOptions | null, callback: AnswerCallback): void
export function request (url: Url, given?: UrlOptions | AnswerCallback | null, called?: AnswerCallback): Promise<Answer> | undefined {
  const { on, options, behind } = callOf(url, given, called)
  return requestOn(on, options, behind)
}

/** As `stream` of a dispatcher. */
export function stream (url: Url, options: UrlOptions | null, factory: StreamFactory): Promise<StreamAnswer> {
  const call = callOf(url, options, factory)
  return streamOn(call.on, call.options, call.behind!)!
}

/** As `pipeline` of a dispatcher. */
export function pipeline (url: Url, options: UrlOptions | null, handler: PipelineCall): Duplex {
  const call = callOf(url, options, handler)
  return pipelineOn(call.on, call.options, call.behind!)
}

/** As `connect` of a dispatcher: `path` is the host and the port of the tunnel, by default those of the URL. */
export function connect (url: Url, options?: UrlOptions | null): Promise<Opened> {
  const call = callOf<never>(url, options, undefined)
  return connectOn(call.on, call.options)!
}

/** As `upgrade` of a dispatcher. */
export function upgrade (url: Url, options?: UrlOptions | null): Promise<Opened> {
  const call = callOf<never>(url, options, undefined)
  return upgradeOn(call.on, call.options)!
}
