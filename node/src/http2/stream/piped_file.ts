// Files that are piped into a response: pieces that the system has in memory are read at once, into memory that is used again.
// Node.js's own way costs a turn of a thread and 64 KiB outside of the heap for each piece, whose collection is dearer than the read.

import { read, ReadStream } from 'node:fs'
import { Readable } from 'node:stream'
import { load } from '../../channel/addon'

/** A response, as far as a file is piped into it. */
interface FileSink {
  write: (piece: Buffer) => boolean
  once: (event: 'drain', listener: () => void) => unknown
  off: (event: 'drain', listener: () => void) => unknown
}

/** The pieces that a response was given. */
export interface WrittenPieces {
  /** Whether some wait in it, and are still their writer's. */
  readonly $areKept: boolean
  /** Passes the next ones on at once, and does not wait for the turn to end. */
  $passOn: () => void
}

/** The members of a file's stream that this is about, public or not. */
interface PipedStream extends Omit<Readable, '_readableState'> {
  fd: number | null
  /** Undefined: it reads from where the descriptor stands. */
  pos: number | undefined
  end: number
  bytesRead: number
  _events: { data?: unknown }
  _readableState: { pipes: unknown[]; dataEmitted: boolean }
}

/** Bytes of one read at most, as a file's stream reads them. */
const PIECE_BYTES = 64 * 1024
/** Pieces smaller than this are copied: a response may keep them until its turn ends. */
const COPIED_BYTES_MAX = 16 * 1024

/** Node's own, before any program changes them. */
const readByNode = ReadStream.prototype._read
const readOfNode = read
const FS = 'kFs'
/** Whether the stream reads by node's own `read`: programs may give it a file system, or a handle. */
function isOfNode (source: PipedStream): boolean {
  const symbol = Object.getOwnPropertySymbols(source).find(({ description }) => description === FS)
  return symbol !== undefined && (source as unknown as Record<symbol, { read?: unknown }>)[symbol]?.read === readOfNode
}

let readCached: ReturnType<typeof load>['readCached'] | undefined
let shared = Buffer.alloc(0)

class PipedFile {
  /** The listener by which `pipe` writes: while it is the only one, nothing else sees the pieces. */
  private readonly listener: unknown

  constructor (private readonly source: PipedStream, private readonly sink: FileSink, private readonly pieces: WrittenPieces, private readonly ownWrite: unknown) {
    this.listener = source._events.data
  }

  /** In the place of the stream's `_read`: writes pieces until the file ends, the sink has no room, or something else reads too. */
  read (wanted: number): void {
    const { source } = this
    for (;;) {
      const most = this.isAlone() ? this.left(wanted) : null
      if (most === null) return void readByNode.call(source, wanted)
      const bytes = most > 0 ? readCached!(source.fd as number, shared, most, source.pos ?? -1) : 0
      if (bytes < 0) return void readByNode.call(source, wanted)
      if (bytes === 0) return void source.push(null)
      if (source.pos !== undefined) source.pos += bytes
      source.bytesRead += bytes
      source._readableState.dataEmitted = true
      if (!this.pass(bytes)) return this.wait(wanted)
      if (source.destroyed) return
    }
  }

  /** Writes the first `bytes` of the shared memory. */
  private pass (bytes: number): boolean {
    const piece = shared.subarray(0, bytes)
    if (bytes < COPIED_BYTES_MAX) return this.sink.write(Buffer.from(piece))
    this.pieces.$passOn()
    const hasRoom = this.sink.write(piece)
    if (this.pieces.$areKept) shared = Buffer.allocUnsafeSlow(PIECE_BYTES)
    return hasRoom
  }

  /** Goes on when the sink has room, or when another reads. */
  private wait (wanted: number): void {
    const { source, sink } = this
    const goOn = (): void => {
      sink.off('drain', goOn)
      waiting.delete(source)
      if (!source.destroyed) this.read(wanted)
    }
    waiting.set(source, goOn)
    sink.once('drain', goOn)
  }

  private isAlone (): boolean {
    const { source, sink } = this
    const { pipes } = source._readableState
    return source.readableFlowing === true && pipes.length === 1 && pipes[0] === sink && source._events.data === this.listener &&
      sink.write === this.ownWrite && source.readableEncoding === null && source.readableLength === 0 &&
      source.listenerCount('readable') === 0 && source.push === Readable.prototype.push && source.emit === Readable.prototype.emit
  }

  private left (wanted: number): number {
    const { end, pos, bytesRead } = this.source
    return Math.min(end - (pos ?? bytesRead) + 1, wanted, PIECE_BYTES)
  }
}

/** Files that wait for their sink, and how they go on. */
const waiting = new WeakMap<object, () => void>()

/** Files whose `_read` is that of a `PipedFile`. */
const piped = new WeakSet<object>()

/** A source begins to be piped into `sink`. `ownWrite`: the `write` of its class. Another in its place, as compressing middleware puts there, may keep its
 * pieces, whose memory is used again. */
export function pipeFile (given: unknown, sink: FileSink, pieces: WrittenPieces, ownWrite: unknown): void {
  if (sink.write !== ownWrite) return
  if (!(given instanceof ReadStream) || Object.getPrototypeOf(given) !== ReadStream.prototype) return
  const source = given as unknown as PipedStream
  if (source._read !== readByNode && !piped.has(source)) return
  if (typeof source._events.data !== 'function' || !isOfNode(source)) return
  readCached ??= load().readCached
  if (shared.length === 0) shared = Buffer.allocUnsafeSlow(PIECE_BYTES)
  piped.add(source)
  const file = new PipedFile(source, sink, pieces, ownWrite)
  Object.defineProperty(source, '_read', { value: (wanted: number) => { file.read(wanted) }, writable: true, enumerable: false, configurable: true })
}

/** A source is not piped any more: a piece that it waits to write is another's. */
export function unpipeFile (source: object): void { waiting.get(source)?.() }
