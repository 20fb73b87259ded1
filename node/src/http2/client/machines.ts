// The machines of client sessions: the core's HTTP/2, called on this thread (`node/native/session`). A
// call changes a machine; its events are read in batches afterwards.

import { Fifo } from '../../fifo'
import { load } from '../../channel/addon'
import { nextTick, setImmediate } from '../../timers'

/** The return value of the addon's `sessions`. */
interface Machines {
  text: ArrayBuffer
  events: ArrayBuffer
  facts: ArrayBuffer
  begin: (settings: string) => number
  forget: (session: number) => void
  feed: (session: number, bytes: Uint8Array) => void
  ended: (session: number, failed: 0 | 1) => void
  drain: (session: number) => number
  written: (session: number) => Buffer | undefined
  request: (session: number, length: number, end: 0 | 1) => number
  send: (session: number, stream: number, bytes: Uint8Array, end: 0 | 1) => number
  finish: (session: number, stream: number, length: number) => number
  holds: (session: number, stream: number) => number
  queued: (session: number, stream: number) => number
  reset: (session: number, stream: number, code: number) => void
  take: (session: number, stream: number, bytes: number) => void
  ping: (session: number) => void
  settings: (session: number, length: number) => void
  goaway: (session: number, code: number, last: number, length: number) => void
  abort: (session: number, code: number) => void
  window: (session: number, bytes: number) => number
  skip: (session: number, stream: number) => number
  state: (session: number) => void
}

/** The kinds of events; `node/native/session/events.rs` has the same. */
const enum Kind { Head = 1, Body, Trailers, Reset, SendReady, Goaway, Pong, Ping, Settings, SettingsAcknowledged, Origins, AltSvc, Closed, Capacity }
/** Words of a record, and their places. */
const RECORD_WORDS = 8
const enum Word { Kind, Stream, First, Second, Position, Length }
/** Flags of a head. */
const END = 1
const INTERIM = 2
/** Flag of a section: behind its text stand the names of fields that no compressor may keep, and a line feed. */
const SENSITIVE = 4

/** Why a call was refused. */
export const enum Refusal { NoCapacity = 1, Closed, Invalid, BodyLength, Other }
const REFUSAL_MASK = 0xff
/** Places of the facts. */
const enum Fact { Deadline, Refusal, Waiting, Later, State = 4 }
/** Place of the next stream's id in `state`. */
const NEXT_STREAM = 2
const NO_DEADLINE = 2 ** 32 - 1
/** The result of a call that was refused. */
const REFUSED = 2 ** 32 - 1
/** Characters of a head, at one byte each. */
export const TEXT_LENGTH_MAX = 256 * 1024
const MICROS_PER_MS = 1000

/** How a connection ended. */
export const enum ClosedBy { Transport, Us, Peer, Drained }

/** The events of one session. `fields` are names and values by turns, pseudo-headers included. */
export interface MachineEvents {
  /** `sensitive`: names of fields that no compressor may keep. */
  $onHead: (stream: number, status: number, fields: string[], sensitive: string[], isInterim: boolean, isEnd: boolean) => void
  $onBody: (stream: number, bytes: Buffer, isEnd: boolean) => void
  $onTrailers: (stream: number, fields: string[], sensitive: string[]) => void
  $onReset: (stream: number, code: number) => void
  /** A body that waited may go on. */
  $onRoom: (stream: number) => void
  $onGoaway: (code: number, last: number, data: Buffer) => void
  $onPong: (payload: Buffer, ms: number) => void
  $onPing: (payload: Buffer) => void
  $onSettings: (values: number[]) => void
  $onSettingsAcknowledged: (ms: number) => void
  $onOrigins: (origins: string[]) => void
  $onAltSvc: (stream: number, origin: string, value: string) => void
  /** The machine has ended. `number`: of nghttp2's error, or the peer's code. */
  $onClosed: (by: ClosedBy, number: number) => void
  /** More requests may start than before, or fewer. */
  $onCapacity: () => void
}

let machines: Machines | undefined
let text: Buffer
let facts: Uint32Array
let words: Uint32Array
let bytes: Buffer

/** Made by the first session, so that importing loads nothing. */
function theMachines (): Machines {
  if (machines !== undefined) return machines
  machines = (load() as unknown as { sessions: () => Machines }).sessions()
  text = Buffer.from(machines.text)
  facts = new Uint32Array(machines.facts)
  words = new Uint32Array(machines.events, 0, Math.floor(machines.events.byteLength / 4))
  bytes = Buffer.from(machines.events)
  return machines
}

/** Machines whose events are to be read. A batch lies in memory that all share: while one is read, others wait. */
const due = new Fifo<Machine>()
/** The machine whose batch is being read. */
let reading: Machine | undefined
let isReporting = false
/** Ticks and microtasks run before the next event is reported. */
let isBetween = false

const resolved = Promise.resolve()
const resume = (): void => {
  isBetween = false
  readDue(false)
}
const resumeInTick = (): void => { nextTick(resume) }

/** node:http2 calls back once per frame, and every tick and microtask runs between two of them: what waits for one event, as by
 * `await once(..)`, listens in time to the next. A tick that a microtask asks for comes behind both. `isWhole`: all at once. */
function readDue (isWhole: boolean): void {
  if (isReporting || (isBetween && !isWhole)) return
  isReporting = true
  try {
    while ((reading ??= due.shift()) !== undefined) {
      if (!reading.readEvent()) reading = undefined
      else if (!isWhole) {
        isBetween = true
        void resolved.then(resumeInTick)
        return
      }
    }
  } finally {
    isReporting = false
  }
}

export class Machine {
  private readonly native = theMachines()
  private readonly number: number
  private isOpen = true
  private isDue = false
  /** Its next events are for a later turn. */
  private isHeld = false
  /** Those behind its batch are. */
  private isLater = false
  /** The events of its batch, and those that were reported. */
  private count = 0
  private at = 0
  private readonly unheld = (): void => {
    this.isHeld = false
    this.drain()
  }
  /** Called when all was reported. */
  whenRead: (() => void) | undefined
  /** Calls for the ticks behind a batch. */
  private readonly behind: (() => void)[] = []
  /** Milliseconds to the next deadline, after `written`. */
  deadline: number | undefined
  /** Bytes that wait behind those that the last `written` gave, or behind the last `feed`. */
  waiting = 0

  constructor (private readonly events: MachineEvents, settings: object) {
    this.number = this.native.begin(JSON.stringify(settings))
  }

  get isOver (): boolean { return !this.isOpen }

  feed (chunk: Uint8Array): void {
    if (!this.isOpen) return
    this.native.feed(this.number, chunk)
    this.waiting = facts[Fact.Waiting]!
    this.drain()
  }

  /** The peer's bytes have ended. */
  ended (hasFailed: boolean): void {
    if (!this.isOpen) return
    this.native.ended(this.number, hasFailed ? 1 : 0)
    this.drain()
  }

  /** Reports what has happened, unless another's events are being reported: then behind them. */
  drain (): void {
    if (this.isDue || this.isHeld || !this.isOpen) return
    this.isDue = true
    due.push(this)
    readDue(false)
  }

  /** Reports all that is left, also for a later turn, at once. */
  release (): void {
    this.isHeld = false
    this.drain()
    readDue(true)
  }

  /** Whether no event of its batch waits for the ticks of the one before it. */
  get isRead (): boolean { return reading !== this }

  /** Calls in a tick behind the events of a batch: as with node, what came together with the event that a listener closes a stream in
   * is still reported. */
  afterBatch (call: () => void): void {
    if (this.isRead) nextTick(call)
    else this.behind.push(call)
  }

  /** Reports one event. False: it was the last one. */
  readEvent (): boolean {
    if (this.hasBatch()) {
      try {
        this.report(this.at++ * RECORD_WORDS)
      } catch (error) {
        // An error of a listener: the other events are not lost by it.
        nextTick(() => { throw error })
      }
      if (this.hasBatch()) return true
    }
    this.isDue = false
    this.whenRead?.()
    if (this.behind.length > 0) for (const call of this.behind.splice(0)) nextTick(call)
    return false
  }

  /** Whether there are events to be reported now. */
  private hasBatch (): boolean {
    if (!this.isOpen) return false
    if (this.at < this.count) return true
    this.at = this.count = 0
    // Readers get what came before an end that cuts their bodies short.
    if (this.isLater) {
      this.isLater = false
      this.isHeld = true
      setImmediate(this.unheld)
      return false
    }
    this.count = this.native.drain(this.number)
    this.isLater = this.count > 0 && facts[Fact.Later] === 1
    return this.count > 0
  }

  private report (at: number): void {
    const { events } = this
    const stream = words[at + Word.Stream]!
    const first = words[at + Word.First]!
    const second = words[at + Word.Second]!
    const from = words[at + Word.Position]!
    const to = from + words[at + Word.Length]!
    switch (words[at]! as Kind) {
      case Kind.Head: return events.$onHead(stream, first, fieldsOf(from, to), (second & SENSITIVE) === 0 ? [] : sensitiveOf(to), (second & INTERIM) !== 0, (second & END) !== 0)
      case Kind.Body: return events.$onBody(stream, copied(from, to), first === 1)
      case Kind.Trailers: return events.$onTrailers(stream, fieldsOf(from, to), (second & SENSITIVE) === 0 ? [] : sensitiveOf(to))
      case Kind.Reset: return events.$onReset(stream, first)
      case Kind.SendReady: return events.$onRoom(stream)
      case Kind.Goaway: return events.$onGoaway(first, second, copied(from, to))
      case Kind.Pong: return events.$onPong(copied(from, to), first / MICROS_PER_MS)
      case Kind.Ping: return events.$onPing(copied(from, to))
      case Kind.Settings: return events.$onSettings(bytes.latin1Slice(from, to).split(' ').map(Number))
      case Kind.SettingsAcknowledged: return events.$onSettingsAcknowledged(first / MICROS_PER_MS)
      case Kind.Origins: return events.$onOrigins(first === 0 ? [] : bytes.latin1Slice(from, to).split('\0'))
      case Kind.AltSvc: {
        const [origin, value] = bytes.latin1Slice(from, to).split('\0')
        return events.$onAltSvc(stream, origin!, value!)
      }
      case Kind.Closed: return events.$onClosed(first as ClosedBy, second)
      case Kind.Capacity: return events.$onCapacity()
    }
  }

  /** The bytes to be written now. */
  written (): Buffer | undefined {
    if (!this.isOpen) return undefined
    const written = this.native.written(this.number)
    const deadline = facts[Fact.Deadline]!
    this.deadline = deadline === NO_DEADLINE ? undefined : deadline
    this.waiting = facts[Fact.Waiting]!
    return written
  }

  /** Starts a stream; its id, or 0 where it is refused. */
  request (head: string, isEnd: boolean): number {
    if (!this.isOpen) return 0
    return this.native.request(this.number, this.write(head), isEnd ? 1 : 0)
  }

  /** Bytes of a body; whether there is room for more. Undefined: the body is not as long as its head says. */
  send (stream: number, chunk: Uint8Array, isEnd: boolean): boolean | undefined {
    if (!this.isOpen) return true
    const room = this.native.send(this.number, stream, chunk, isEnd ? 1 : 0)
    if (room === REFUSED && this.refusal === Refusal.BodyLength) return undefined
    return isEnd || room !== 0
  }

  /** The end of a body, with trailers or without. False: it was refused. */
  finish (stream: number, trailers: string): boolean {
    return this.isOpen && this.native.finish(this.number, stream, this.write(trailers)) !== REFUSED
  }

  /** Why the last call was refused. */
  get refusal (): Refusal { return (facts[Fact.Refusal]! & REFUSAL_MASK) as Refusal }
  /** Whether a stream is open, in either direction. */
  holds (stream: number): boolean { return this.isOpen && this.native.holds(this.number, stream) === 1 }
  /** Bytes of a body that are in no frame yet. */
  queued (stream: number): number { return this.isOpen ? this.native.queued(this.number, stream) : 0 }
  reset (stream: number, code: number): void { if (this.isOpen) this.native.reset(this.number, stream, code) }
  /** Bytes of a body were read. */
  take (stream: number, count: number): void { if (this.isOpen) this.native.take(this.number, stream, count) }

  ping (payload: Uint8Array): void {
    if (!this.isOpen) return
    text.set(payload, 0)
    this.native.ping(this.number)
  }

  settings (packed: Uint8Array): void {
    if (!this.isOpen) return
    text.set(packed, 0)
    this.native.settings(this.number, packed.length)
  }

  goaway (code: number, last: number, data: Uint8Array | undefined): void {
    if (!this.isOpen) return
    const sent = data?.subarray(0, TEXT_LENGTH_MAX)
    if (sent !== undefined) text.set(sent, 0)
    this.native.goaway(this.number, code, last, sent?.length ?? 0)
  }

  /** GOAWAY; nothing goes behind it. */
  abort (code: number): void { if (this.isOpen) this.native.abort(this.number, code) }
  /** The connection's receive window. */
  setWindow (size: number): void { if (this.isOpen) this.native.window(this.number, size) }
  /** The id of the next stream. */
  skipTo (id: number): boolean { return this.isOpen && this.native.skip(this.number, id) === 0 }

  /** The id that the next stream gets. */
  get nextStream (): number { return this.state()[NEXT_STREAM] ?? 0 }
  /** Takes the id of the next stream, which is not opened; 0: there is none. */
  pass (): number {
    const id = this.nextStream
    return this.skipTo(id + 2) ? id : 0
  }

  /** The nine numbers of `session.state`, in its order. */
  state (): number[] {
    if (!this.isOpen) return []
    this.native.state(this.number)
    return Array.from(facts.subarray(Fact.State, Fact.State + 9))
  }

  /** Frees the memory. */
  forget (): void {
    if (!this.isOpen) return
    this.isOpen = false
    this.native.forget(this.number)
  }

  private write (head: string): number {
    text.latin1Write(head, 0)
    return head.length
  }
}

function fieldsOf (from: number, to: number): string[] { return from === to ? [] : bytes.latin1Slice(from, to).split('\0') }
/** The names behind a section's text. */
function sensitiveOf (from: number): string[] { return bytes.latin1Slice(from, bytes.indexOf(0x0a, from)).split('\0') }
function copied (from: number, to: number): Buffer { return Buffer.from(bytes.subarray(from, to)) }
