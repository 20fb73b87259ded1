// One call of `fetch`: https://fetch.spec.whatwg.org/#concept-main-fetch, without what protects the user of a browser (CORS, mixed
// content, policies), as in Node.js.

import { isError } from '../../errors/is_error'
import type { AnyDispatcher } from '../../client/calls/api'
import { Body } from '../body/body'
import { Bytes, codingsOf, Decoded } from '../body/decode'
import type { HeaderList } from '../headers/header_list'
import { startHop, type Hop, type Receiver } from './hop'
import { matches } from './integrity'
import { localResponse } from './local'
import type { ByteQueue } from '../body/queue'
import { originFor, policyOf, referrerFor } from './referrer'
import type { MadeParts } from '../request_parts'
import { BODILESS, REDIRECTS, ResponseParts, responseOver, type Response } from '../response'
import { Timing } from './timing'
import { baseUrl, hasBadPort, isHttp, partsOfUrl, type ParsedUrl } from '../url'
import { bodyFor, headersFor, lengthOf, type FetchUpload } from './wire'
import { setImmediate } from '../../timers'

/** https://fetch.spec.whatwg.org/#concept-http-redirect-fetch, step 8. */
const REDIRECTS_MAX = 20

/** Fields that speak of a body (https://fetch.spec.whatwg.org/#request-body-header-name). */
const OF_BODY = ['content-encoding', 'content-language', 'content-location', 'content-type', 'content-length']
/** Fields that another origin must not get. */
const OF_ORIGIN = ['authorization', 'proxy-authorization', 'cookie', 'host']

/** The standard's network error. */
function networkError (reason: unknown): TypeError {
  const cause = isErrorLike(reason) ? reason : new Error(reason ? String(reason as string) : undefined)
  return new TypeError('fetch failed', { cause })
}

function isErrorLike (reason: unknown): reason is Error { return isError(reason) || ['Error', 'DOMException'].includes((reason as object | null | undefined)?.constructor?.name ?? '') }

/** The error of a body whose signal aborted: a reason that says nothing is an AbortError there, as with undici. */
const endOf = (reason: unknown): unknown => reason || new DOMException('The operation was aborted.', 'AbortError')

/** Bodies on their way that are not watched for being dropped yet: a finalizer costs more than most bodies, whose reader takes all of them
 * from the turn on in which their head came. */
let fresh: { body: Body; queue: ByteQueue }[] = []

function watchFresh (): void {
  const bodies = fresh
  fresh = []
  for (const { body, queue } of bodies) if (!queue.isOver && !queue.isCollected && !queue.isWatched) queue.watch(body)
}

/** Frees the connection of a body that is dropped unread. */
function watchUnread (body: Body, queue: ByteQueue): void {
  if (fresh.push({ body, queue }) === 1) setImmediate(watchFresh)
}

/** Bodies that were dropped unread: their signal is followed no more. */
const unfollowed = new FinalizationRegistry<() => void>(unfollow => { unfollow() })

/** The ways of a call that are the process's: its dispatcher, and which dispatchers go directly. */
export interface Ways {
  dispatcher: () => AnyDispatcher
  isOwn: (dispatcher: AnyDispatcher) => boolean
}

/** A body that a signal can take from its reader. */
type Abortable = ByteQueue | Decoded

interface Settling { resolve: (response: Response) => void; reject: (reason: unknown) => void }

export class Fetching implements Receiver {
  private url: ParsedUrl
  private method: string
  private list: HeaderList
  private body: Body | null
  private redirects = 0
  private isCrossOrigin = false
  private policy: string
  /** The URL that `referer` is made of; determined anew from what the last hop had. */
  private referrer: string
  private hop: Hop | null = null
  /** The bytes of the response as they are read, where they do not come whole or a signal may take them. */
  private unread: Abortable | null = null
  /** The body of the response, where it has codings that are undone. */
  private decoded: Decoded | null = null
  /** Whether the caller has the response, and whether it is among the resource timings. */
  private isGiven = false
  private isReported = false
  private upload: FetchUpload | null = null
  /** Settle the promise of the call; null: it has settled. The promise holds the response, whose body must not be reachable from here:
   * the registry of bodies that are dropped holds the hop, and with it this. */
  private promise: Settling | null
  private unfollow: (() => void) | null = null
  private readonly timing = new Timing()

  constructor (
    private readonly request: MadeParts,
    private readonly ways: Ways,
    resolve: (response: Response) => void,
    reject: (reason: unknown) => void
  ) {
    this.promise = { resolve, reject }
    this.url = request.target
    this.method = request.method
    this.list = request.list
    this.body = request.body
    this.policy = request.settings.referrerPolicy
    this.referrer = request.settings.referrer
  }

  start (): void {
    const { followed } = this.request
    if (followed !== null) {
      if (followed.aborted) return this.abort(followed.reason)
      const listener = (): void => { this.abort(followed.reason) }
      followed.addEventListener('abort', listener, { once: true })
      this.unfollow = () => { followed.removeEventListener('abort', listener) }
    }
    this.go()
  }

  /** The signal aborted (https://fetch.spec.whatwg.org/#abort-fetch). */
  private abort (reason: unknown): void {
    this.unfollow?.()
    const { hop, promise, unread } = this
    this.promise = null
    if (this.upload !== null) this.upload.cancel(reason)
    else if (promise !== null) this.body?.cancel(reason)
    promise?.reject(reason)
    const end = promise === null ? endOf(reason) : reason
    unread?.abort(end)
    hop?.abort(end)
  }

  private fail (cause: unknown): void {
    this.unfollow?.()
    const { promise } = this
    this.promise = null
    promise?.reject(networkError(cause))
  }

  /** https://fetch.spec.whatwg.org/#scheme-fetch */
  private go (): void {
    const { url, request } = this
    if (hasBadPort(url)) return this.fail(new Error('bad port'))
    if (isHttp(url)) return this.send()
    try {
      const parts = localResponse(url, this.method, this.list.get('range'))
      parts.type = 'basic'
      if (this.method === 'HEAD') parts.body = null
      this.give(parts, request.settings.integrity)
    } catch (cause) {
      this.fail(cause)
    }
  }

  private send (): void {
    const { url, method, list, request, policy } = this
    const { settings } = request
    const { body, length, upload } = bodyFor(this.body)
    this.upload = upload
    const referrer = referrerFor(this.referrer, policy, url)
    this.referrer = referrer ?? 'no-referrer'
    const origin = originFor(method, settings.mode, policy, this.isCrossOrigin, url)
    const dispatcher = request.dispatcher ?? this.ways.dispatcher()
    const isLengthDue = length === null && !this.ways.isOwn(dispatcher)
    const headers = headersFor({ url, method, list, settings, referrer, origin }, isLengthDue ? lengthOf(body, method) : length)
    const options = { path: url.path, origin: url.origin, method, body, headers, ...this.forMocks(dispatcher, body) }
    this.timing.onSend()
    startHop(dispatcher, this.ways.isOwn, options as never, this, hop => { this.hop = hop })
  }

  /** As with undici: mocks compare a body as the program gave it; on the network goes the encoded one (the name is undici 8's). */
  private forMocks (dispatcher: AnyDispatcher, encoded: unknown): object | null {
    const { body } = this
    if ((dispatcher as { isMockActive?: unknown }).isMockActive !== true || body === null) return null
    return { body: body.given ?? (body.whole === '' ? body.web : encoded), __mockAgentBodyForDispatch: encoded }
  }

  // Calls of the exchange.

  onHead (hop: Hop, status: number, reason: string, list: HeaderList, whole: Buffer | null | undefined): void {
    if (hop !== this.hop) return
    this.timing.onHead(status)
    // Without a user who gives credentials (https://fetch.spec.whatwg.org/#concept-http-network-or-cache-fetch, step 15).
    if (status === 407) return this.breakOff(hop, new Error('proxy authentication required'))
    const { redirect, integrity } = this.request.settings
    const location = REDIRECTS.has(status) ? list.get('location') : null
    if (REDIRECTS.has(status) && redirect === 'error') return this.breakOff(hop, new Error('unexpected redirect'))
    if (location !== null && redirect === 'follow') {
      hop.discard()
      return hop.within(() => { this.follow(status, location, list) })
    }
    try {
      this.give(this.partsOf(hop, status, reason, list, whole), integrity)
    } catch (cause) {
      this.breakOff(hop, cause)
    }
  }

  /** The response is not one for the caller. */
  private breakOff (hop: Hop, cause: unknown): void {
    this.fail(cause)
    hop.abort(cause)
  }

  onFailed (hop: Hop, error: unknown): void {
    if (hop !== this.hop) return
    // As with undici: an abort that is not the signal's.
    const isAbort = (error as { name?: unknown } | null | undefined)?.name === 'AbortError'
    this.fail(isAbort ? Object.assign(new DOMException('Request was cancelled.'), { cause: error }) : error)
  }

  onOver (hop: Hop): void {
    if (hop !== this.hop) return
    this.timing.onEnd()
    this.report()
    if (this.promise === null) this.loosen()
  }

  /** Puts the response among the resource timings once nothing more of it comes, also where it was cut, and its codings are undone. */
  private report (): void {
    const { hop, decoded } = this
    if (!this.isGiven || this.isReported || hop?.hasEnded !== true || decoded?.isDone === false) return
    this.isReported = true
    this.timing.mark(this.request.target.href, hop.received, decoded?.decoded ?? hop.received)
  }

  /** A body whose codings are undone as it is read. */
  private decode (source: Bytes | ByteQueue, codings: string[]): Decoded {
    this.decoded = new Decoded(source, codings)
    this.decoded.onDecoded = () => { this.report() }
    return this.decoded
  }

  /** All of the response is here. A signal that aborts still takes from its reader what was not read; the signal may live as long as
   * the process, and must not hold bodies without a reader. */
  private loosen (): void {
    this.unfollow?.()
    this.unfollow = null
    const { followed } = this.request
    const { unread } = this
    if (followed === null || unread === null || unread.isDone) return
    const weak = new WeakRef(unread)
    const listener = (): void => { weak.deref()?.abort(endOf(followed.reason)) }
    const unfollow = (): void => { followed.removeEventListener('abort', listener) }
    followed.addEventListener('abort', listener, { once: true })
    unread.onDone = unfollow
    unfollowed.register(unread, unfollow)
  }

  private partsOf (hop: Hop, status: number, reason: string, list: HeaderList, whole: Buffer | null | undefined): ResponseParts {
    const isBodiless = this.method === 'HEAD' || BODILESS.has(status)
    const codings = isBodiless ? [] : codingsOf(list.get('content-encoding'))
    const body = isBodiless ? null : this.bodyOf(hop, whole, codings)
    // A response that has no body may still have bytes on the wire.
    if (isBodiless && whole === undefined) hop.discard()
    const parts = new ResponseParts(status, reason, list, body)
    parts.type = this.isCrossOrigin ? 'cors' : 'basic'
    parts.isDecoded = codings.length > 0
    if (whole === undefined) parts.trailers = () => hop.trailers()
    return parts
  }

  private bodyOf (hop: Hop, whole: Buffer | null | undefined, codings: string[]): Body {
    if (whole !== undefined && this.request.followed === null) {
      const bytes = whole ?? NO_BYTES
      return new Body(codings.length === 0 ? bytes : this.decode(new Bytes(bytes), codings))
    }
    const { queue } = hop
    if (whole != null) queue.push(whole, false)
    const source = codings.length === 0 ? queue : this.decode(queue, codings)
    this.unread = source
    const body = new Body(source)
    watchUnread(body, queue)
    return body
  }

  /** Settles with the response, once its bytes are known to be the ones that were asked for. */
  private give (parts: ResponseParts, integrity: string): void {
    parts.guard = 'immutable'
    parts.url = this.url.bare
    parts.redirected = this.redirects > 0
    if (integrity === '') this.settle(parts)
    else void this.verify(parts, integrity)
  }

  private async verify (parts: ResponseParts, integrity: string): Promise<void> {
    try {
      const bytes = parts.body === null ? NO_BYTES : await parts.body.bytes()
      if (!matches(bytes, integrity)) return this.fail(new Error('integrity mismatch'))
      parts.body = parts.body === null ? null : new Body(bytes)
    } catch (cause) {
      return this.fail(cause)
    }
    this.settle(parts)
  }

  private settle (parts: ResponseParts): void {
    const { hop, promise } = this
    if (promise === null) return
    this.promise = null
    this.isGiven = true
    if (hop === null || hop.hasEnded) this.loosen()
    this.report()
    const isOpaque = this.isCrossOrigin && this.request.settings.mode === 'no-cors'
    promise.resolve(responseOver(isOpaque ? opaque(parts) : parts))
  }

  /** https://fetch.spec.whatwg.org/#concept-http-redirect-fetch */
  private follow (status: number, location: string, list: HeaderList): void {
    const { url, request } = this
    const { mode } = request.settings
    // The value is bytes, which are UTF-8 where they are no ASCII.
    const text = /[\x80-\xff]/.test(location) ? Buffer.from(location, 'latin1').toString('utf8') : location
    let target: URL
    try {
      target = new URL(text, url.href)
    } catch (error) {
      // As with undici it has the code and the text.
      return this.fail(error as Error)
    }
    if (target.hash === '') target.hash = url.href.slice(url.bare.length)
    const next = partsOfUrl(target)
    if (!isHttp(next)) return this.fail(new Error('URL scheme must be a HTTP(S) scheme'))
    if (this.redirects === REDIRECTS_MAX) return this.fail(new Error('redirect count exceeded'))
    this.redirects++
    this.timing.onRedirect()
    const leaves = next.origin !== url.origin
    // A program without an origin of its own has no URL of the same origin.
    const isOfOurs = !leaves && !this.isCrossOrigin && baseUrl()?.origin === next.origin
    if (next.hasCredentials && mode === 'cors' && !isOfOurs) return this.fail(new Error('cross origin not allowed for request mode "cors"'))
    if (leaves && mode === 'same-origin') return this.fail(new Error('request mode cannot be "same-origin"'))
    if (status !== 303 && this.body !== null && this.body.whole === null) return this.fail(new Error('a body that was sent cannot be sent again: it is a stream'))
    if (((status === 301 || status === 302) && this.method === 'POST') || (status === 303 && this.method !== 'GET' && this.method !== 'HEAD')) {
      this.method = 'GET'
      this.body = null
      this.without(OF_BODY)
    }
    if (leaves) this.without(OF_ORIGIN)
    // The own origin is the one of the first URL, as in Node.js.
    if (next.origin !== request.target.origin) this.isCrossOrigin = true
    this.policy = policyOf(list) || this.policy
    this.url = next
    this.go()
  }

  private without (names: readonly string[]): void {
    if (!names.some(name => this.list.has(name))) return
    this.list = this.list.copy()
    for (const name of names) this.list.delete(name)
  }
}

const NO_BYTES = Buffer.alloc(0)

/** https://fetch.spec.whatwg.org/#concept-filtered-response-opaque */
function opaque (parts: ResponseParts): ResponseParts {
  parts.body?.cancel()
  const made = new ResponseParts(0, '', parts.list.copy(), null)
  for (const { lower } of [...made.list.fields]) made.list.delete(lower)
  made.type = 'opaque'
  made.guard = 'immutable'
  return made
}
