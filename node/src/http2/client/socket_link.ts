// A machine on the socket or stream that carries its bytes: what comes is fed to it, what it has to send
// is written once per turn, as far as the stream takes it.

import { performance } from 'node:perf_hooks'
import type { Duplex } from 'node:stream'
import { Machine, type MachineEvents } from './machines'
import { clearTimeout, nextTick, setImmediate, setTimeout } from '../../timers'

/** Bytes that wait for a stream that takes none, from which nothing more is read of it. */
const WAITING_BYTES_MAX = 256 * 1024
/** The longest time of a timer of Node.js, in ms. */
const TIME_MS_MAX = 2 ** 31 - 1

/** A stream whose pieces of a turn go to the machine together. */
interface ClientBody { $flushBody: () => void }
/** An exception of one is uncaught, and keeps no other from its flush. */
function flushApart (body: ClientBody): void {
  try {
    body.$flushBody()
  } catch (error) {
    nextTick(() => { throw error })
  }
}

export class SocketLink {
  readonly machine: Machine
  private isPlanned = false
  /** The write waits for the end of a batch of events. */
  private isPutOff = false
  private isBlocked = false
  private isPaused = false
  private timer: NodeJS.Timeout | undefined
  /** When the timer fires, by `performance.now`. */
  private due = 0
  /** Bodies that give their pieces to the machine before what it has is written. */
  private before: ClientBody[] = []
  private readonly planned = (): void => {
    // One write for all that the listeners of a batch ask for.
    this.isPutOff = !this.machine.isRead
    if (this.isPutOff) return
    this.isPlanned = false
    this.flush()
  }
  private isGathering = false
  private readonly gathered = (): void => { this.isGathering = false; this.deliver() }

  /** `after`: called when what could be written was. */
  constructor (readonly socket: Duplex, events: MachineEvents, settings: object, private readonly after: () => void) {
    this.machine = new Machine(events, settings)
    this.machine.whenRead = () => { if (this.isPutOff) nextTick(this.planned) }
    socket.on('data', (chunk: Buffer) => {
      this.machine.feed(chunk)
      this.holdBack()
      this.plan()
    })
    // A stream that stays half open would never close.
    socket.on('end', () => { if (!socket.writableEnded) socket.end() })
    this.plan()
  }

  /** Writes at the end of this turn. */
  plan (): void {
    if (this.isPlanned) return
    this.isPlanned = true
    nextTick(this.planned)
  }

  /** `body` is to be flushed at the end of this turn, before the rest is written. */
  planBody (body: ClientBody): void {
    this.before.push(body)
    this.plan()
  }

  private flush (): void {
    const bodies = this.before
    if (bodies.length > 0) {
      this.before = []
      for (const body of bodies) flushApart(body)
      return this.gather()
    }
    this.deliver()
  }

  /** Pieces of bodies wait for those that their writers give upon their callbacks, in the same turn of the event loop: a write of
   * the socket for each of them would cost more than all the rest. */
  private gather (): void {
    if (this.isGathering) return
    this.isGathering = true
    setImmediate(this.gathered)
  }

  private deliver (): void {
    if (this.machine.isOver) return
    this.write()
    this.machine.drain()
    this.after()
  }

  private write (): void {
    const { machine, socket } = this
    while (!this.isBlocked && socket.writable) {
      const bytes = machine.written()
      if (bytes === undefined) break
      this.isBlocked = !socket.write(bytes, () => { if (this.isBlocked && socket.writableLength === 0) this.unblock() })
    }
    this.holdBack()
    this.arm(machine.deadline)
  }

  /** Reads nothing more while too much waits: a server can provoke answers and take none of them. */
  private holdBack (): void {
    if (!this.isBlocked || this.isPaused || this.machine.waiting <= WAITING_BYTES_MAX) return
    this.isPaused = true
    this.socket.pause()
  }

  private unblock (): void {
    this.isBlocked = false
    if (this.isPaused) {
      this.isPaused = false
      this.socket.resume()
    }
    this.flush()
  }

  private arm (deadline: number | undefined): void {
    if (deadline === undefined) {
      clearTimeout(this.timer)
      this.timer = undefined
      return
    }
    const due = performance.now() + deadline
    // A deadline that moves away with every write costs nothing until the old one passes.
    if (this.timer !== undefined && this.due <= due) return
    clearTimeout(this.timer)
    this.due = due
    this.timer = setTimeout(() => { this.timer = undefined; this.flush() }, Math.min(deadline, TIME_MS_MAX)).unref()
  }

  /** GOAWAY with this code, and the machine is no more. */
  end (code: number): void {
    const { machine, socket } = this
    if (machine.isOver) return
    machine.abort(code)
    clearTimeout(this.timer)
    while (socket.writable) {
      const bytes = machine.written()
      if (bytes === undefined) break
      socket.write(bytes)
    }
    machine.forget()
  }
}
