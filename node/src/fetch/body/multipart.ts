// A form as the body of a message (RFC 7578, and https://html.spec.whatwg.org/#multipart-form-data).

import { randomBytes } from 'node:crypto'

/** Bytes of randomness in a boundary: 128 bits, which is more than can be searched. */
const BOUNDARY_RANDOM_BYTES = 9

/** The part of a FormData of any package that is read. */
interface FormLike { entries: () => Iterable<[string, string | Blob]> }

/** Whether a value is a FormData, of any package. */
export function isForm (value: unknown): value is FormData {
  if (typeof value !== 'object' || value === null) return false
  const { [Symbol.toStringTag]: tag, append, entries } = value as Partial<FormData> & { [Symbol.toStringTag]?: string }
  return tag === 'FormData' && typeof append === 'function' && typeof entries === 'function'
}

const lines = (text: string): string => text.replace(/\r?\n|\r/g, '\r\n')
const escaped = (text: string): string => text.replace(/\n/g, '%0A').replace(/\r/g, '%0D').replace(/"/g, '%22')

/** An encoded form, which can be read again and again. The boundary comes from a cryptographic generator: of Math.random the
 * next output follows from earlier ones, so that a server that has received one form could write the boundary of a later form
 * into a value that it controls (CVE-2025-22150, CVE-2025-7783). */
export class Multipart {
  readonly type: string
  /** Bytes. */
  length = 0
  private readonly parts: (Buffer | Blob)[] = []

  /** `typeOf`: the content type of a Blob, '' where it has none. */
  constructor (readonly given: FormLike, typeOf: (blob: Blob) => string = blob => blob.type) {
    const boundary = `----trunkline-${randomBytes(BOUNDARY_RANDOM_BYTES).toString('hex')}`
    this.type = `multipart/form-data; boundary=${boundary}`
    for (const [name, value] of given.entries()) {
      const start = `--${boundary}\r\nContent-Disposition: form-data; name="${escaped(lines(name))}"`
      if (typeof value === 'string') {
        this.add(Buffer.from(`${start}\r\n\r\n${lines(value)}\r\n`))
        continue
      }
      const { name: title } = value as Blob & { name?: string }
      const file = title ? `; filename="${escaped(title)}"` : ''
      this.add(Buffer.from(`${start}${file}\r\nContent-Type: ${typeOf(value) || 'application/octet-stream'}\r\n\r\n`))
      this.add(value)
      this.add(Buffer.from('\r\n'))
    }
    this.add(Buffer.from(`--${boundary}--\r\n`))
  }

  private add (part: Buffer | Blob): void {
    this.parts.push(part)
    this.length += Buffer.isBuffer(part) ? part.length : part.size
  }

  async * pieces (): AsyncGenerator<Uint8Array, void, undefined> {
    for (const part of this.parts) {
      if (Buffer.isBuffer(part)) yield part
      else yield * part.stream() as unknown as AsyncIterable<Uint8Array>
    }
  }
}
