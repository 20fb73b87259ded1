// The channel between JavaScript and the engine: two rings in memory that the addon owns. Requests and their bodies go in
// (`submissions.ts`), events come out, in batches. `node/native/channel/ring.rs` and `exchange.rs` are the other end;
// `codes.ts` has the numbers.

import { STATUS_CODES } from 'node:http'
import type { Failure } from '../errors/failures'
import { NO_METRICS, ofThread } from '../observe/open_metrics'
import { ENDED_FAILURE, type ConnectionListener, type ExchangeCallbacks, type ServerHalf } from './callbacks'
import { Completion, CompletionFlag, Control, DataWord, DialWord, EntryWord, HoldWord, HttpVersion, InterimWord, LookupWord, ResponseWord, RoomWord, StartedWord } from './codes'
import { CompletionArena } from './completion_arena'
import { placeOf, type EnginePlace } from './place'
import { Submissions, type WireBody } from './submissions'
import { nextTick, queueMicrotask, setImmediate } from '../timers'

export type { Failure } from '../errors/failures'

/** Characters of a request's head: an arena holds a few of the largest. */
export const HEAD_BYTES_MAX = 256 * 1024
/** Turns of a drain before others of this loop get theirs. */
const DRAIN_TURNS_MAX = 16
/** As many with ticks alone between them. */
const TICK_TURNS_MAX = 256

const resolved = Promise.resolve()

/** Unread bytes of a body with which its exchange does not hold the process: it waits for its reader, and where nothing else
 * holds the process none comes. undici stops reading the socket then, which holds no process either. */
const UNREAD_BYTES_MAX = 64 * 1024

export class Bridge extends Submissions {
  /** The half for servers, once there is one. */
  servers: ServerHalf | null = null
  readonly completions: Int32Array
  readonly arena: CompletionArena
  private drained = 0
  /** Between two of them ticks and microtasks run, as between two frames of node:http2. */
  turn = 0
  /** Turns without one of the event loop between them. */
  private tickTurns = 0
  private readonly drainInTick = (): void => { nextTick(() => { this.drain() }) }
  /** By number; 0 is unused. */
  private readonly callbacks: (ExchangeCallbacks | undefined)[] = [undefined]
  private readonly free: number[] = []
  /** Bytes of the response's body that came and were not taken, by number; of a tunnel, which has `ref` and `unref`,
   * -Infinity, and of one whose request's body goes on, Infinity. */
  private readonly unread: number[] = [0]
  private active = 0
  private readonly answers = new Map<number, (text: string) => void>()
  /** By the client's number. Weak, so that a dispatcher that its user has dropped is collected; what is under way
   * holds it. */
  private readonly listeners = new Map<number, WeakRef<ConnectionListener>>()
  private readonly dropped = new FinalizationRegistry<number>(client => { this.forget(client) })
  private tickets = 0

  /** `place`: where its engine runs, if the platform allows it. */
  constructor (place: EnginePlace) {
    super(place)
    this.completions = new Int32Array(this.native.completions)
    this.arena = new CompletionArena(this.native.completionArena, this.arenaBytes)
    ofThread.push({ metrics: () => this.hasEnded ? NO_METRICS : this.ask('ringLag', {}) as string })
  }

  /** A cold call; throws the failure as it came. */
  ask (verb: string, question: object): unknown {
    const answer = JSON.parse(this.native.ask(verb, JSON.stringify(question))) as { ok?: unknown; error?: Failure }
    this.streams?.afterCall()
    if (answer.error) throw answer.error
    return answer.ok
  }

  /** Registers the callbacks of the client with this number, until it is removed or collected. */
  listen (client: number, listener: ConnectionListener): void {
    this.listeners.set(client, new WeakRef(listener))
    this.dropped.register(listener, client, listener)
  }

  /** Removes the callbacks of a client. */
  unlisten (client: number, listener: ConnectionListener): void {
    this.listeners.delete(client)
    this.dropped.unregister(listener)
  }

  /** Ends the client of a dispatcher that was dropped without its end: its connections are idle. */
  private forget (client: number): void {
    this.listeners.delete(client)
    if (!this.hasEnded) apart(() => { this.ask('shutDown', { client }) })
  }

  /** A cold call that takes time; rejects with the failure as it came. */
  async askLater (verb: string, question: object): Promise<unknown> {
    if (this.hasEnded) throw ENDED_FAILURE
    const ticket = ++this.tickets
    const answered = new Promise<string>(resolve => { this.answers.set(ticket, resolve) })
    this.hold()
    try {
      this.ask(verb, { ...question, ticket })
      const answer = JSON.parse(await answered) as { ok?: unknown; error?: Failure }
      if (answer.error) throw answer.error
      return answer.ok
    } finally {
      this.answers.delete(ticket)
      this.release()
    }
  }

  /** Submits a request. Its head is `method\0path\0authority` and `\0name\0value` per field. */
  submit (callbacks: ExchangeCallbacks, origin: number, head: string, body: WireBody, headersTimeout: number, bodyTimeout: number, flags = 0): void {
    if (this.hasEnded) return queueMicrotask(() => { callbacks.onFailed(ENDED_FAILURE) })
    if (head.length > HEAD_BYTES_MAX) {
      const message = `the request's head has ${head.length} bytes; it must have at most ${HEAD_BYTES_MAX}`
      return callbacks.onFailed({ kind: 'config', message })
    }
    const number = this.free.pop() ?? this.callbacks.length
    this.callbacks[number] = callbacks
    callbacks.number = number
    this.unread[number] = callbacks.leavesHttp === true ? -Infinity : 0
    this.hold()
    if (!this.isFull && this.writeRequest(number, origin, head, body, headersTimeout, bodyTimeout, flags)) return this.wrote(typeof body !== 'string')
    // Until there is room the body may be changed, or transferred away.
    const own = typeof body === 'object' && body !== null ? Buffer.from(body) : body
    this.defer(() => this.writeRequest(number, origin, head, own, headersTimeout, bodyTimeout, flags))
  }

  /** Hands out everything that the engine has completed. What a listener throws is thrown: as with node, nothing else is handed out before the
   * exception is reported, and what is left comes in a turn of its own. */
  protected drain (): void {
    const { control } = this
    this.draining = true
    this.turn++
    let turns = 0
    let isBehindTicks = false
    let thrown: { error: unknown } | undefined
    for (;;) {
      const completed = Atomics.load(control, Control.Completed)
      if (completed === this.drained) {
        Atomics.store(control, Control.ScriptSleeps, 1)
        if (Atomics.load(control, Control.Completed) === completed) {
          this.tickTurns = 0
          break
        }
        Atomics.store(control, Control.ScriptSleeps, 0)
        continue
      }
      if (turns++ === DRAIN_TURNS_MAX || thrown !== undefined || isBehindTicks) {
        // Still awake, so no wake-up comes: continues in the next turn, or behind the ticks of this one.
        if (thrown === undefined && isBehindTicks && this.tickTurns++ < TICK_TURNS_MAX) void resolved.then(this.drainInTick)
        else inNextTurn(() => { this.tickTurns = 0; this.drain() })
        break
      }
      while (this.drained !== completed && thrown === undefined) {
        const at = (this.drained & this.entryMask) << 3
        isBehindTicks = this.isBehindTicks(at)
        if (isBehindTicks) break
        try {
          this.complete(at)
        } catch (error) {
          thrown = { error }
        }
        this.drained = (this.drained + 1) | 0
      }
      Atomics.store(control, Control.DrainedArena, this.arena.drained)
      Atomics.store(control, Control.Drained, this.drained)
      if (this.isUrgent) this.leave()
    }
    this.draining = false
    if (this.isUrgent) this.leave()
    if (Atomics.load(control, Control.Overflows) === 1) this.native.kick()
    if (Atomics.load(control, Control.EngineEnded) === 1 && !this.hasEnded) this.endAll()
    if (thrown !== undefined) throw thrown.error
  }

  /** The engine has ended: every open exchange fails. */
  private endAll (): void {
    this.hasEnded = true
    this.backlog = []
    for (const answer of this.answers.values()) answer(JSON.stringify({ error: ENDED_FAILURE }))
    for (const callbacks of this.callbacks.splice(1)) {
      if (callbacks === undefined) continue
      this.over(callbacks.number)
      callbacks.number = 0
      apart(() => { callbacks.onFailed(ENDED_FAILURE) })
      apart(() => { callbacks.onReleased() })
    }
    this.servers?.endAll()
    this.streams?.endAll()
  }

  /** Whether an entry waits for the ticks of one before it. */
  private isBehindTicks (at: number): boolean {
    const code = this.completions[at]! & 0xff
    return code >= Completion.Request && code < Completion.StreamWrite && this.servers!.isBehindTicks(code, at, this.turn)
  }

  private complete (at: number): void {
    const { completions } = this
    const word0 = completions[at]!
    const number = completions[at + EntryWord.Number]!
    const length = completions[at + EntryWord.Length]!
    const position = completions[at + EntryWord.Position]!
    const code = word0 & 0xff
    if ((word0 & CompletionFlag.TextByReference) !== 0) return this.completeOutside(at, word0, position)
    if (code >= Completion.StreamWrite) return this.streams!.complete(code, at)
    if (code >= Completion.Request) return this.servers!.complete(code, at)
    switch (code) {
      case Completion.Answer: case Completion.ConnectionEvent: case Completion.Lookup: case Completion.Dial:
        return this.completeText(code, number, at, this.arena.utf8(position, length))
      case Completion.Hold: return completions[at + HoldWord.Holds]! === 1 ? this.hold() : this.release()
    }
    const callbacks = this.callbacks[number]
    if (callbacks === undefined) return this.arena.skip(position, length)
    if (word0 & CompletionFlag.Last) {
      callbacks.number = 0
      this.callbacks[number] = undefined
      this.free.push(number)
      this.over(number)
    }
    switch (code) {
      case Completion.Response: return this.completeResponse(callbacks, word0, at, position, length)
      case Completion.Data:
        return this.completeData(callbacks, number, word0 & CompletionFlag.ByReference ? this.native.take(completions[at + DataWord.Body]!) : this.arena.copy(position, length))
      case Completion.Ended:
        if ((word0 & CompletionFlag.Last) === 0) this.endedBeforeBody(number)
        return callbacks.onEnd(this.arena.text(position, length))
      case Completion.Interim: return this.completeInterim(callbacks, at, position, length)
      case Completion.Failed: return callbacks.onFailed(JSON.parse(this.arena.utf8(position, length)) as Failure)
      case Completion.Started: return callbacks.onStarted(completions[at + StartedWord.ConnectionHigh]! * 2 ** 32 + (completions[at + StartedWord.ConnectionLow]! >>> 0))
      case Completion.Room: return callbacks.onRoom(completions[at + RoomWord.Bytes]!)
      case Completion.Cancelled: return callbacks.onGone()
      case Completion.Released: return callbacks.onReleased()
    }
  }

  /** A completion that is rare, and has a text which is read whether or not there is a listener. */
  private completeText (code: Completion, number: number, at: number, text: string): void {
    const listener = (client: number): ConnectionListener | undefined => this.listeners.get(client)?.deref()
    switch (code) {
      case Completion.Answer: return this.answers.get(number)?.(text)
      case Completion.ConnectionEvent: return listener(number)?.onConnectionEvents(text)
      case Completion.Lookup: return listener(this.completions[at + LookupWord.Client]!)?.onLookup(number, text)
    }
    const dialer = listener(this.completions[at + DialWord.Client]!)
    if (dialer !== undefined) return dialer.onDial(number, text)
    this.ask('dialed', { ticket: number })
  }

  /** A completion whose bytes lie outside of the arena. */
  private completeOutside (at: number, word0: number, place: number): void {
    this.arena.enter(this.native.take(place), place)
    this.completions[at] = word0 & ~CompletionFlag.TextByReference
    try {
      this.complete(at)
    } finally {
      this.arena.leave()
    }
  }

  private completeData (callbacks: ExchangeCallbacks, number: number, chunk: Buffer): void {
    callbacks.onData(chunk, true)
    // Behind the callback, which mostly takes them.
    const before = this.unread[number]!
    this.unread[number] = before + chunk.length
    if (before < UNREAD_BYTES_MAX && before + chunk.length >= UNREAD_BYTES_MAX) this.release()
  }

  /** Bytes of the response's body were taken. */
  take (number: number, bytes: number): void {
    const before = this.unread[number]!
    this.unread[number] = before - bytes
    if (before >= UNREAD_BYTES_MAX && before - bytes < UNREAD_BYTES_MAX) this.hold()
    this.giveCredit(number, bytes)
  }

  /** An exchange is over. */
  private over (number: number): void {
    if (this.unread[number]! < UNREAD_BYTES_MAX) this.release()
    this.unread[number] = 0
  }

  /** A response is over whose request's body goes on, which holds the process by itself from here on. */
  private endedBeforeBody (number: number): void {
    this.over(number)
    this.unread[number] = Infinity
  }

  private completeResponse (callbacks: ExchangeCallbacks, word0: number, at: number, position: number, length: number): void {
    const { completions } = this
    let fields = this.arena.text(position, length)
    const bodyWord = completions[at + ResponseWord.Body]!
    let body: Buffer | undefined
    if (word0 & CompletionFlag.ByReference) body = this.native.take(bodyWord)
    else if (bodyWord > 0) body = this.arena.copy((position + length) | 0, bodyWord)
    const status = completions[at + ResponseWord.Status]!
    const version = completions[at + ResponseWord.Version]!
    let reason = version < HttpVersion.Http2 ? 'OK' : ''
    const own = completions[at + ResponseWord.Reason]!
    if (own > 0) {
      reason = phraseOf(fields.slice(0, own - 1))
      fields = fields.slice(own - 1)
    }
    if ((word0 & CompletionFlag.Last) === 0) callbacks.onResponse(status, fields, reason, version)
    else callbacks.onWhole(status, fields, reason, body, version)
  }

  private completeInterim (callbacks: ExchangeCallbacks, at: number, position: number, length: number): void {
    const text = this.arena.text(position, length)
    const status = this.completions[at + InterimWord.Status]!
    const version = this.completions[at + InterimWord.Version]!
    const own = this.completions[at + InterimWord.Reason]!
    // HTTP/2 and HTTP/3 have no reason phrase (RFC 9113 section 8.3.2).
    if (own === 0) callbacks.onInterim(status, text, version < HttpVersion.Http2 ? STATUS_CODES[status] ?? '' : '', version)
    else callbacks.onInterim(status, text.slice(own - 1), phraseOf(text.slice(0, own - 1)), version)
  }

  /** Something is under way: the process stays. */
  hold (): void {
    if (this.active++ > 0) return
    if (this.control[Control.Idle] === 1) this.control[Control.Idle] = 0
    else this.native.hold(1)
  }
  /** Within a call of native code the next request mostly follows: behind the call it looks whether one did. */
  release (): void {
    if (--this.active > 0) return
    if (this.control[Control.ScriptCalled] === 1) this.control[Control.Idle] = 1
    else this.native.hold(0)
  }
}

/** A reason phrase, which came as a character for each byte: bytes beyond ASCII are of UTF-8, as undici reads them. */
function phraseOf (bytes: string): string { return /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, 'latin1').toString() : bytes }

/** Calls in the next turn, outside of any domain: one that an exception has left is entered until the exception is reported. */
function inNextTurn (call: () => void): void {
  const of = process as { domain?: unknown }
  const { domain } = of
  if (domain == null) return void setImmediate(call)
  of.domain = null
  setImmediate(call)
  of.domain = domain
}

/** Makes a call whose exception must not keep others from theirs: it is uncaught. */
export function apart (call: () => void): void {
  try {
    call()
  } catch (error) {
    nextTick(() => { throw error })
  }
}

const bridges: { [P in EnginePlace]?: Bridge } = {}
/** This environment's channel to the engine at `place`; made by the first dispatcher or server there, so that
 * importing does nothing. */
export function theBridge (place: EnginePlace = placeOf(undefined)): Bridge { return (bridges[place] ??= new Bridge(place)) }
