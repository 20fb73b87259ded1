// The channel between JavaScript and the engine: two rings in memory that the addon owns. Requests
// and their bodies go in, events come out, in batches. `node/native/channel/ring.rs` and `exchange.rs` are
// the other end; `codes.ts` has the numbers.

import { STATUS_CODES } from 'node:http'
import { markAsUntransferable } from 'node:worker_threads'
import type { Failure } from '../errors/failures'
import { NO_METRICS, ofThread } from '../observe/open_metrics'
import { load, type Native } from './addon'
import { placeOf, type EnginePlace } from './place'
import {
  Body, BY_REFERENCE_BYTES_MIN, Completion, CompletionFlag, Control, DataWord, DialWord, EntryWord, HttpVersion, InterimWord, LookupWord,
  ResponseWord, RoomWord, StartedWord, SubmissionFlag, writeCancel, writeEnd, writeFail, writePiece, writeRequest, writeTake
} from './codes'

export type { Failure } from '../errors/failures'

/** Characters of a request's head: an arena holds a few of the largest. */
export const HEAD_BYTES_MAX = 256 * 1024
/** Submissions that may wait for the end of the turn before they are published to the engine: one that is awake reads them. */
const UNPUBLISHED_MAX = 32
/** Submissions that may wait before an engine that sleeps is woken: waking it takes a system call, longer than all of them. */
const ASLEEP_MAX = 256
/** Turns of a drain before others of this loop get theirs. */
const DRAIN_TURNS_MAX = 16
/** Small bodies are copied from the arena into pieces of this size. */
const SLAB_BYTES = 64 * 1024

/** As the addon counts them. */
const PLACE_NUMBERS = { threads: 0, inline: 1, auto: 2 } as const satisfies { [P in EnginePlace]: number }

/** The error of every exchange after the engine has ended. */
export const ENDED_FAILURE: Failure = {
  kind: 'ended',
  message: 'the engine of this thread has ended after a fault of its own, which stderr names; start the process or the worker again'
}

/** The callbacks of an exchange. */
export interface ExchangeCallbacks {
  /** Its number on the channel; 0 before it is submitted and after it is over. */
  number: number
  /** It starts on this connection; only if it is `WATCHED`. */
  onStarted: (connection: number) => void
  /** The final head; `fields` are names and values by turns, a zero between two. */
  onResponse: (status: number, fields: string, reason: string, version: number) => void
  /** The final head and all that follows it: a body, or none. */
  onWhole: (status: number, fields: string, reason: string, body: Buffer | undefined, version: number) => void
  onInterim: (status: number, fields: string, reason: string, version: number) => void
  /** A piece of the body. `credit`: its bytes are to be taken (`Bridge.take`). */
  onData: (chunk: Buffer, credit: boolean) => void
  onEnd: (trailers: string) => void
  onFailed: (failure: Failure) => void
  /** The connection took `bytes` of the request's body. */
  onRoom: (bytes: number) => void
  /** It was cancelled, and the engine has dropped it. */
  onGone: () => void
}

/** The callbacks of a client beside its exchanges. */
export interface ConnectionListener {
  /** Of its connections: a JSON text (connections.rs). */
  onConnectionEvents: (text: string) => void
  /** A name is to be looked up: a JSON text (lookup.rs). */
  onLookup: (ticket: number, text: string) => void
  /** A connection is to be made: a JSON text (dial.rs). */
  onDial: (ticket: number, text: string) => void
}

/** How a request's body is given. */
export type WireBody = Buffer | 'streaming' | 'tunnel' | null

/** The channel's other half, for servers (`server/bridge.ts`), which takes its own completions. */
export interface ServerHalf {
  /** The entry at `at` of the completions. */
  complete: (code: Completion, at: number) => void
  /** The engine is no more. */
  endAll: () => void
}

/** As `ServerHalf`, for streams that carry connections (`streams.ts`). */
export interface StreamHalf extends ServerHalf {
  /** Submissions are about to be published. */
  beforeFlush: () => void
  /** The engine was called, which may change connections. */
  afterCall: () => void
}

export class Bridge {
  /** The half for servers, once there is one. */
  servers: ServerHalf | null = null
  /** The half for streams, once there is one. */
  streams: StreamHalf | null = null
  readonly native: Native
  private readonly control: Int32Array
  private readonly submissions: Int32Array
  readonly submissionArena: Buffer
  readonly completions: Int32Array
  readonly completionArena: Buffer
  private readonly entryMask: number
  readonly arenaBytes: number
  /** The engine runs on this thread. */
  private readonly isInline: boolean
  /** Entries that were written, modulo 2^32. */
  submitted = 0
  private published = 0
  /** Entries of which an engine that slept has been woken. */
  private wokenFor = 0
  /** How far the engine had read when it was last looked. */
  private intaken = 0
  private intakenArena = 0
  arenaWritten = 0
  private drained = 0
  private drainedArena = 0
  private draining = false
  /** Something that the engine waits for was written since the last flush. */
  private isUrgent = false
  hasEnded = false
  private flushPlanned = false
  /** Submissions that were written, of whatever kind, and how many there were when the flush was planned. */
  private writes = 0
  private plannedWrites = 0
  private readonly planned = (): void => {
    if (this.writes !== this.plannedWrites && this.wokenFor !== this.submitted) return this.planFlush()
    this.flushPlanned = false
    this.flush()
  }
  /** Submissions that found no room, in order. */
  private backlog: (() => boolean)[] = []
  /** By number; 0 is unused. */
  private readonly callbacks: (ExchangeCallbacks | undefined)[] = [undefined]
  private readonly free: number[] = []
  private active = 0
  private readonly answers = new Map<number, (text: string) => void>()
  /** By the client's number. Weak, so that a dispatcher that its user has dropped is collected; what is under way
   * holds it. */
  private readonly listeners = new Map<number, WeakRef<ConnectionListener>>()
  private readonly dropped = new FinalizationRegistry<number>(client => { this.forget(client) })
  private tickets = 0
  private slab = freshSlab()
  private slabUsed = 0
  /** The bytes of the completion at hand that did not go through the arena, and the position that stands
   * for their beginning. */
  private outside: Buffer | null = null
  private outsideAt = 0

  /** `place`: where its engine runs, if the platform allows it. */
  constructor (place: EnginePlace) {
    this.native = load().open(() => { this.drain() }, PLACE_NUMBERS[place])
    this.control = new Int32Array(this.native.control)
    this.submissions = new Int32Array(this.native.submissions)
    this.submissionArena = Buffer.from(this.native.submissionArena)
    this.completions = new Int32Array(this.native.completions)
    this.completionArena = Buffer.from(this.native.completionArena)
    this.entryMask = this.native.entries - 1
    this.arenaBytes = this.native.arenaBytes
    this.isInline = this.native.inline === 1
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
    this.hold()
    if (!this.isFull && this.writeRequest(number, origin, head, body, headersTimeout, bodyTimeout, flags)) return this.wrote(typeof body !== 'string')
    // Until there is room the body may be changed, or transferred away.
    const own = typeof body === 'object' && body !== null ? Buffer.from(body) : body
    this.defer(() => this.writeRequest(number, origin, head, own, headersTimeout, bodyTimeout, flags))
  }

  private writeRequest (number: number, origin: number, head: string, body: WireBody, headersTimeout: number, bodyTimeout: number, flags: number): boolean {
    const inline = typeof body === 'object' && body !== null && body.length < BY_REFERENCE_BYTES_MIN ? body : undefined
    const length = head.length + (inline === undefined ? 0 : inline.length)
    const position = this.room(length)
    if (position === undefined) return false
    const at = position & (this.arenaBytes - 1)
    this.submissionArena.latin1Write(head, at)
    let bodyWord = 0
    if (inline !== undefined) {
      this.submissionArena.set(inline, at + head.length)
      flags |= Body.Inline
      bodyWord = inline.length
    } else if (body === 'streaming') {
      flags |= Body.Streaming
    } else if (body === 'tunnel') {
      flags |= Body.Streaming | SubmissionFlag.LeavesHttp
    } else if (body !== null) {
      flags |= Body.ByReference
      bodyWord = this.native.put(body)
    }
    this.arenaWritten = (position + length) | 0
    writeRequest(this, flags, number, position, head.length, origin, bodyWord, headersTimeout, bodyTimeout)
    return true
  }

  /** A piece of a streaming request body, which may be changed again at once. */
  piece (number: number, chunk: Buffer): void {
    if (this.hasEnded) return
    if (!this.isFull && this.writePiece(number, chunk)) return this.wrote()
    const own = Buffer.from(chunk)
    this.defer(() => this.writePiece(number, own))
  }

  private writePiece (number: number, chunk: Buffer): boolean {
    if (chunk.length >= BY_REFERENCE_BYTES_MIN) {
      if (!this.hasEntry()) return false
      writePiece(this, Body.ByReference, number, 0, 0, this.native.put(chunk))
      return true
    }
    const position = this.room(chunk.length)
    if (position === undefined) return false
    this.submissionArena.set(chunk, position & (this.arenaBytes - 1))
    this.arenaWritten = (position + chunk.length) | 0
    writePiece(this, Body.Inline, number, position, chunk.length, 0)
    return true
  }

  /** The end of a streaming request body. */
  end (number: number): void { this.submitEntry(() => { writeEnd(this, 0, number) }) }
  /** The streaming request body failed. */
  fail (number: number): void { this.submitEntry(() => { writeFail(this, 0, number) }) }
  /** Cancels the exchange. */
  cancel (number: number): void { this.submitEntry(() => { writeCancel(this, 0, number) }) }
  /** Bytes of the response's body were taken. */
  take (number: number, bytes: number): void { this.submitEntry(() => { writeTake(this, 0, number, bytes) }) }

  /** Bytes that were read give the peer credit. Nothing waits for it: it goes with what is written next, or at the end of
   * the turn. */
  submitCredit (write: () => void): void {
    const wasUrgent = this.isUrgent
    this.submitEntry(write)
    if (!this.draining) return
    this.isUrgent = wasUrgent
    this.planFirst()
  }

  /** Adds bytes to the text of the last entry, while it is not published and `submitted` entries are all: false where they
   * have no room behind it. */
  extend (submitted: number, chunk: Buffer, flags: number): boolean {
    if (submitted !== this.submitted || this.published === submitted) return false
    const at = ((submitted - 1) & this.entryMask) << 3
    const { submissions } = this
    const length = submissions[at + EntryWord.Length]! + chunk.length
    const from = this.arenaWritten & (this.arenaBytes - 1)
    // At the arena's beginning the last text lies elsewhere.
    if (length >= BY_REFERENCE_BYTES_MIN || from === 0 || chunk.length > this.arenaBytes - from) return false
    if (((submissions[at + EntryWord.Position]! + length - chunk.length) | 0) !== this.arenaWritten) return false
    if (((this.arenaWritten - this.intakenArena) | 0) + chunk.length > this.arenaBytes) return false
    this.submissionArena.set(chunk, from)
    this.arenaWritten = (this.arenaWritten + chunk.length) | 0
    submissions[at + EntryWord.Length] = length
    submissions[at] = submissions[at]! | flags
    return true
  }

  /** Submits an entry without text. */
  submitEntry (write: () => void): void {
    this.write(() => {
      if (!this.hasEntry()) return false
      write()
      return true
    })
  }

  /** Writes now, or behind those that wait for room. */
  write (attempt: () => boolean): void {
    if (this.hasEnded) return
    if (this.isFull || !attempt()) this.defer(attempt)
    else this.wrote()
  }

  /** Others wait for room already. */
  get isFull (): boolean { return this.backlog.length > 0 }

  /** Retries a submission that found no room when there is some. */
  defer (attempt: () => boolean): void {
    this.backlog.push(attempt)
    this.flush()
    if (this.backlog.length === 1) setImmediate(() => { this.retry() })
  }

  /** Publishes written submissions to the engine, in batches. `isWhole`: nothing that belongs to it follows by ticks. */
  wrote (isWhole = false): void {
    this.writes++
    if (this.draining) {
      this.isUrgent = true
      return
    }
    if (isWhole && this.isReadBehind) return this.leave()
    if (((this.submitted - this.published) | 0) >= UNPUBLISHED_MAX) {
      this.publish()
      if (((this.submitted - this.wokenFor) | 0) >= ASLEEP_MAX) return this.wake()
    }
    this.planFirst(isWhole)
  }

  /** Plans a flush. The tick that follows a write by its callback comes behind the one that is planned by the write, so
   * that the first always plans another, but for what is whole. */
  private planFirst (isWhole = false): void {
    if (this.flushPlanned) return
    this.flushPlanned = true
    this.planFlush()
    if (!isWhole) this.plannedWrites--
  }

  /** Behind the ticks of this turn: a flush for each of them would wake the engine for one small piece after another. Those
   * of a stream whose messages follow each other by ticks are many, and are one batch as long as each writes something. */
  private planFlush (): void {
    this.plannedWrites = this.writes
    process.nextTick(this.planned)
  }

  /** The rings were full: the engine reads on, and what waits goes in as it gives room. */
  private retry (): void {
    let done = 0
    while (done < this.backlog.length && this.backlog[done]!()) done++
    this.backlog = this.backlog.slice(done)
    this.flush()
    if (this.backlog.length > 0) setImmediate(() => { this.retry() })
  }

  hasEntry (): boolean {
    if (((this.submitted - this.intaken) | 0) <= this.entryMask) return true
    this.intaken = Atomics.load(this.control, Control.Read)
    return ((this.submitted - this.intaken) | 0) <= this.entryMask
  }

  /** Where `length` bytes lie in one piece; undefined: neither they nor an entry have room. */
  room (length: number): number | undefined {
    if (!this.hasEntry()) return undefined
    if (this.isInline && this.control[Control.Read] === this.submitted) {
      // Nothing is unread: what comes one by one stays in the same few pages, which are in the processor's cache. The position of an
      // engine on another thread would have to be fetched from there.
      this.arenaWritten = ((this.arenaWritten + this.arenaBytes - 1) & -this.arenaBytes) | 0
      this.intakenArena = this.arenaWritten
    }
    const left = this.arenaBytes - (this.arenaWritten & (this.arenaBytes - 1))
    const skipped = length > left ? left : 0
    const needed = ((this.arenaWritten - this.intakenArena) | 0) + skipped + length
    if (needed > this.arenaBytes) {
      // How much more was read; less than nothing, if nothing was since the last beginning.
      const read = Math.max((Atomics.load(this.control, Control.ReadArena) - this.intakenArena) | 0, 0)
      this.intakenArena = (this.intakenArena + read) | 0
      if (needed - read > this.arenaBytes) return undefined
    }
    return (this.arenaWritten + skipped) | 0
  }

  entry (word0: number, number: number, word2: number, word3: number, word4: number, word5: number, word6: number, word7: number): void {
    const { submissions } = this
    const at = (this.submitted & this.entryMask) << 3
    submissions[at] = word0
    submissions[at + 1] = number
    submissions[at + 2] = word2
    submissions[at + 3] = word3
    submissions[at + 4] = word4
    submissions[at + 5] = word5
    submissions[at + 6] = word6
    submissions[at + 7] = word7
    this.submitted = (this.submitted + 1) | 0
  }

  /** Lets the engine see what was written, and wakes it if it sleeps. */
  flush (): void {
    this.publish()
    if (this.wokenFor !== this.submitted) this.wake()
  }

  /** Whether this runs within a call of the engine's on this thread, behind which it reads what is published. */
  private get isReadBehind (): boolean { return this.isInline && this.control[Control.ScriptCalled] === 1 }

  /** As `flush`, but for the call that wakes the engine where it looks by itself. */
  private leave (): void {
    if (!this.isReadBehind) return this.flush()
    this.publish()
    this.wokenFor = this.submitted
  }

  private publish (): void {
    if (this.published === this.submitted) return
    this.isUrgent = false
    this.streams?.beforeFlush()
    this.published = this.submitted
    Atomics.store(this.control, Control.Submitted, this.submitted)
  }

  private wake (): void {
    this.wokenFor = this.submitted
    if (Atomics.exchange(this.control, Control.EngineSleeps, 0) === 1) this.native.kick()
  }

  /** Hands out everything that the engine has completed. */
  private drain (): void {
    const { control } = this
    this.draining = true
    let turns = 0
    for (;;) {
      const completed = Atomics.load(control, Control.Completed)
      if (completed === this.drained) {
        Atomics.store(control, Control.ScriptSleeps, 1)
        if (Atomics.load(control, Control.Completed) === completed) break
        Atomics.store(control, Control.ScriptSleeps, 0)
        continue
      }
      if (turns++ === DRAIN_TURNS_MAX) {
        // Still awake, so no wake-up comes: continues in the next turn.
        setImmediate(() => { this.drain() })
        break
      }
      while (this.drained !== completed) {
        try {
          this.complete((this.drained & this.entryMask) << 3)
        } catch (error) {
          // A handler's own: it must not keep the others from what is theirs.
          process.nextTick(() => { throw error })
        }
        this.drained = (this.drained + 1) | 0
      }
      Atomics.store(control, Control.DrainedArena, this.drainedArena)
      Atomics.store(control, Control.Drained, this.drained)
      if (this.isUrgent) this.leave()
    }
    this.draining = false
    if (this.isUrgent) this.leave()
    if (Atomics.load(control, Control.Overflows) === 1) this.native.kick()
    if (Atomics.load(control, Control.EngineEnded) === 1 && !this.hasEnded) this.endAll()
  }

  /** The engine has ended: every open exchange fails. */
  private endAll (): void {
    this.hasEnded = true
    this.backlog = []
    for (const answer of this.answers.values()) answer(JSON.stringify({ error: ENDED_FAILURE }))
    for (const callbacks of this.callbacks.splice(1)) {
      if (callbacks === undefined) continue
      callbacks.number = 0
      this.release()
      apart(() => { callbacks.onFailed(ENDED_FAILURE) })
    }
    this.servers?.endAll()
    this.streams?.endAll()
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
        return this.completeText(code, number, at, this.utf8(position, length))
    }
    const callbacks = this.callbacks[number]
    if (callbacks === undefined) return this.skip(position, length)
    if (word0 & CompletionFlag.Last) {
      callbacks.number = 0
      this.callbacks[number] = undefined
      this.free.push(number)
      this.release()
    }
    switch (code) {
      case Completion.Response: return this.completeResponse(callbacks, word0, at, position, length)
      case Completion.Data:
        if (word0 & CompletionFlag.ByReference) return callbacks.onData(this.native.take(completions[at + DataWord.Body]!), true)
        return callbacks.onData(this.copy(position, length), true)
      case Completion.Ended: return callbacks.onEnd(this.text(position, length))
      case Completion.Interim: return this.completeInterim(callbacks, at, position, length)
      case Completion.Failed: return callbacks.onFailed(JSON.parse(this.utf8(position, length)) as Failure)
      case Completion.Started: return callbacks.onStarted(completions[at + StartedWord.ConnectionHigh]! * 2 ** 32 + (completions[at + StartedWord.ConnectionLow]! >>> 0))
      case Completion.Room: return callbacks.onRoom(completions[at + RoomWord.Bytes]!)
      case Completion.Cancelled: return callbacks.onGone()
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
    this.outside = this.native.take(place)
    this.outsideAt = place
    this.completions[at] = word0 & ~CompletionFlag.TextByReference
    try {
      this.complete(at)
    } finally {
      this.outside = null
    }
  }

  private completeResponse (callbacks: ExchangeCallbacks, word0: number, at: number, position: number, length: number): void {
    const { completions } = this
    let fields = this.text(position, length)
    const bodyWord = completions[at + ResponseWord.Body]!
    let body: Buffer | undefined
    if (word0 & CompletionFlag.ByReference) body = this.native.take(bodyWord)
    else if (bodyWord > 0) body = this.copy((position + length) | 0, bodyWord)
    const status = completions[at + ResponseWord.Status]!
    const version = completions[at + ResponseWord.Version]!
    let reason = version < HttpVersion.Http2 ? 'OK' : ''
    const own = completions[at + ResponseWord.Reason]!
    if (own > 0) {
      reason = fields.slice(0, own - 1)
      fields = fields.slice(own - 1)
    }
    if ((word0 & CompletionFlag.Last) === 0) callbacks.onResponse(status, fields, reason, version)
    else callbacks.onWhole(status, fields, reason, body, version)
  }

  private completeInterim (callbacks: ExchangeCallbacks, at: number, position: number, length: number): void {
    const text = this.text(position, length)
    const status = this.completions[at + InterimWord.Status]!
    const version = this.completions[at + InterimWord.Version]!
    const own = this.completions[at + InterimWord.Reason]!
    // HTTP/2 and HTTP/3 have no reason phrase (RFC 9113 section 8.3.2).
    if (own === 0) callbacks.onInterim(status, text, version < HttpVersion.Http2 ? STATUS_CODES[status] ?? '' : '', version)
    else callbacks.onInterim(status, text.slice(own - 1), text.slice(0, own - 1), version)
  }

  /** One string for a whole head. */
  text (position: number, length: number): string {
    if (length === 0) return ''
    if (this.outside !== null) return this.outside.latin1Slice(position - this.outsideAt, position - this.outsideAt + length)
    const from = position & (this.arenaBytes - 1)
    this.drainedArena = (position + length) | 0
    return this.completionArena.latin1Slice(from, from + length)
  }

  private utf8 (position: number, length: number): string {
    if (this.outside !== null) return this.outside.utf8Slice(position - this.outsideAt, position - this.outsideAt + length)
    const from = position & (this.arenaBytes - 1)
    this.drainedArena = (position + length) | 0
    return this.completionArena.utf8Slice(from, from + length)
  }

  /** Skips bytes of the arena that have no reader. */
  skip (position: number, length: number): void { if (length > 0 && this.outside === null) this.drainedArena = (position + length) | 0 }

  /** A copy of bytes of the arena. */
  copy (position: number, length: number): Buffer {
    if (this.outside !== null) return Buffer.from(this.outside.subarray(position - this.outsideAt, position - this.outsideAt + length))
    const from = position & (this.arenaBytes - 1)
    this.drainedArena = (position + length) | 0
    if (length > SLAB_BYTES - this.slabUsed) {
      this.slab = freshSlab()
      this.slabUsed = 0
    }
    const start = this.slabUsed
    this.slabUsed = start + length
    this.completionArena.copy(this.slab, start, from, from + length)
    return this.slab.subarray(start, this.slabUsed)
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

/** Pieces of many exchanges share one: who transfers a piece must not take the others along. */
function freshSlab (): Buffer {
  const slab = Buffer.allocUnsafeSlow(SLAB_BYTES)
  markAsUntransferable(slab.buffer)
  return slab
}

/** Makes a call whose exception must not keep others from theirs: it is uncaught. */
export function apart (call: () => void): void {
  try {
    call()
  } catch (error) {
    process.nextTick(() => { throw error })
  }
}

const bridges: { [P in EnginePlace]?: Bridge } = {}
/** This environment's channel to the engine at `place`; made by the first dispatcher or server there, so that
 * importing does nothing. */
export function theBridge (place: EnginePlace = placeOf(undefined)): Bridge { return (bridges[place] ??= new Bridge(place)) }
