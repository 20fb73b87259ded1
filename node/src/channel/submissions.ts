// Writes submissions to the engine's ring and arena, publishes them in batches, and wakes an engine that sleeps.

import { load, type Native } from './addon'
import type { StreamHalf } from './callbacks'
import { Body, BY_REFERENCE_BYTES_MIN, Control, EntryWord, SubmissionFlag, writeCancel, writeEnd, writeFail, writePiece, writeRequest, writeTake } from './codes'
import type { EnginePlace } from './place'
import { nextTick, setImmediate } from '../timers'

/** Submissions that may wait for the end of the turn before they are published to the engine: one that is awake reads them. */
const UNPUBLISHED_MAX = 32
/** Submissions that may wait before an engine that sleeps is woken: waking it takes a system call, longer than all of them. */
const ASLEEP_MAX = 256
/** As the addon counts them. */
const PLACE_NUMBERS = { threads: 0, inline: 1, auto: 2 } as const satisfies { [P in EnginePlace]: number }

/** How a request's body is given. */
export type WireBody = Buffer | 'streaming' | 'tunnel' | null

export abstract class Submissions {
  /** The half for streams, once there is one. */
  streams: StreamHalf | null = null
  readonly native: Native
  protected readonly control: Int32Array
  private readonly submissions: Int32Array
  readonly submissionArena: Buffer
  protected readonly entryMask: number
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
  protected draining = false
  /** Something that the engine waits for was written since the last flush. */
  protected isUrgent = false
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
  protected backlog: (() => boolean)[] = []

  /** `place`: where its engine runs, if the platform allows it. */
  protected constructor (place: EnginePlace) {
    this.native = load().open(() => { this.drain() }, PLACE_NUMBERS[place])
    this.control = new Int32Array(this.native.control)
    this.submissions = new Int32Array(this.native.submissions)
    this.submissionArena = Buffer.from(this.native.submissionArena)
    this.entryMask = this.native.entries - 1
    this.arenaBytes = this.native.arenaBytes
    this.isInline = this.native.inline === 1
  }

  /** Hands out everything that the engine has completed. */
  protected abstract drain (): void

  protected writeRequest (number: number, origin: number, head: string, body: WireBody, headersTimeout: number, bodyTimeout: number, flags: number): boolean {
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
    const position = this.copy(chunk)
    if (position === undefined) return false
    writePiece(this, Body.Inline, number, position, chunk.length, 0)
    return true
  }

  /** The end of a streaming request body. */
  end (number: number): void { this.submitEntry(() => { writeEnd(this, 0, number) }) }
  /** The streaming request body failed. */
  fail (number: number): void { this.submitEntry(() => { writeFail(this, 0, number) }) }
  /** Cancels the exchange. */
  cancel (number: number): void { this.submitEntry(() => { writeCancel(this, 0, number) }) }
  /** Gives the engine credit for bytes of the response's body. */
  protected giveCredit (number: number, bytes: number): void { this.submitEntry(() => { writeTake(this, 0, number, bytes) }) }

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
   * that the first always plans another, except for what is whole. */
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
    nextTick(this.planned)
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

  /** Copies bytes into the arena, for the entry that is written next: their position, or undefined as of `room`. */
  copy (bytes: Uint8Array): number | undefined {
    const position = this.room(bytes.length)
    if (position === undefined) return undefined
    this.submissionArena.set(bytes, position & (this.arenaBytes - 1))
    this.arenaWritten = (position + bytes.length) | 0
    return position
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

  /** As `flush`, except for the call that wakes the engine where it looks by itself. */
  protected leave (): void {
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
}
