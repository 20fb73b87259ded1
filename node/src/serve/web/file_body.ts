// A file as the body of a response: the part of it that is sent, and its bytes for a program that reads them.

import { createReadStream, statSync, type Stats } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename } from 'node:path'
import { Readable } from 'node:stream'

/** A part of a file. */
export interface FilePart { path: string; offset: number; length: number | null }

/** The bytes of a file, which is opened on the first read. */
export async function * streamOfFile ({ path, offset, length }: FilePart): AsyncGenerator<Uint8Array, void, undefined> {
  if (length === 0) return
  yield * createReadStream(path, { start: offset, end: length === null ? Infinity : offset + length - 1 }) as AsyncIterable<Uint8Array>
}

/** A position as `Blob.slice` counts it: from the end where it is negative, and never outside. */
function within (at: number, size: number): number {
  const whole = Math.trunc(at) || 0
  return whole < 0 ? Math.max(0, size + whole) : Math.min(whole, size)
}

/**
 * A body that lies in a file; made by [`file`]. Nothing is opened before it is sent or read, and each reading opens the file again. A file that cannot be
 * read is the error of node:fs (`ENOENT`, `EISDIR` ..).
 */
export class FileBody {
  constructor (
    /** Absolute. */
    readonly path: string,
    /** Bytes before the part that is sent. */
    readonly offset: number,
    /** Bytes that are sent; null: all behind `offset`. */
    readonly length: number | null,
    /** Its media type, which is the `content-type` of an answer that has none. */
    readonly type: string
  ) {}

  /** The bytes of the file, which is opened on the first read. */
  pieces (): AsyncGenerator<Uint8Array, void, undefined> { return streamOfFile(this) }

  /** The last part of its path. */
  get name (): string { return basename(this.path) }

  /** Bytes of this part, as the file is now; 0 where there is none. */
  get size (): number {
    const found = statSync(this.path, { throwIfNoEntry: false })
    if (found === undefined) return 0
    const behind = Math.max(0, found.size - this.offset)
    return this.length === null ? behind : Math.min(this.length, behind)
  }

  /** When the file was changed last, in milliseconds since 1970; 0 where there is none. */
  get lastModified (): number { return Math.floor(statSync(this.path, { throwIfNoEntry: false })?.mtimeMs ?? 0) }

  /** Whether there is such a file; a folder is none. */
  async exists (): Promise<boolean> {
    try {
      return !(await stat(this.path)).isDirectory()
    } catch {
      return false
    }
  }

  /** As `stat` of node:fs/promises. */
  async stat (): Promise<Stats> { return await stat(this.path) }

  /** A part of this part, as `slice` of a Blob counts: `begin` is the first byte, `end` the one behind the last; negative ones count from the end.
   * `type`: its media type; default: that of the file. */
  slice (begin = 0, end?: number, type = this.type): FileBody {
    const isOpen = end === undefined && begin >= 0
    if (isOpen && this.length === null) return new FileBody(this.path, this.offset + Math.trunc(begin), null, type)
    const { size } = this
    const first = within(begin, size)
    return new FileBody(this.path, this.offset + first, Math.max(0, within(end ?? size, size) - first), type)
  }

  /** The bytes of the file, read as fast as they are taken. */
  stream (): ReadableStream<Uint8Array> { return Readable.toWeb(Readable.from(this.pieces(), { objectMode: false })) as ReadableStream<Uint8Array> }

  /** All bytes of the file. */
  async bytes (): Promise<Uint8Array<ArrayBuffer>> {
    const pieces: Uint8Array[] = []
    for await (const piece of this.pieces()) pieces.push(piece)
    const all = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0))
    let at = 0
    for (const piece of pieces) {
      all.set(piece, at)
      at += piece.length
    }
    return all
  }

  /** Throws: a Blob or a FormData of Node.js would send its name as an object in the place of its bytes, which are not at hand in the call. */
  [Symbol.toPrimitive] (): never {
    throw new TypeError(`the bytes of file('${this.path}') are not in memory, so that a Blob or FormData of Node.js cannot take it, nor a text; use FormData of trunkline, or new Blob([await file.bytes()])`)
  }

  async arrayBuffer (): Promise<ArrayBuffer> { return (await this.bytes()).buffer }
  /** The bytes decoded as UTF-8. */
  async text (): Promise<string> { return new TextDecoder().decode(await this.bytes()) }
  /** The text parsed as JSON. @throws SyntaxError where it is no JSON. */
  async json (): Promise<any> { return JSON.parse(await this.text()) }
}

// Node.js's own Response and FormData take it for what it is by its class. Nothing of Node.js's has bytes of a Blob here: every member that would need
// them is replaced.
Object.setPrototypeOf(FileBody.prototype, Blob.prototype)
