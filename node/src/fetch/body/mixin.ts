// The methods that requests and responses share (https://fetch.spec.whatwg.org/#body-mixin).

import type { Body } from './body'
import { parseForm } from './form_parser'
import type { FormData } from '../form_data'
import { mimeOf, mimeText } from '../headers/mime'

/** The part of a message that its methods need. */
export interface Readable {
  body: Body | null
  /** The value of `content-type`, read when it is needed. */
  contentType: () => string | null
  /** Programs get no stream of the body. */
  readonly hidesBody?: boolean
}

export interface BodyMethods {
  readonly body: ReadableStream<Uint8Array> | null
  readonly bodyUsed: boolean
  text (): Promise<string>
  json (): Promise<any>
  arrayBuffer (): Promise<ArrayBuffer>
  bytes (): Promise<Uint8Array>
  blob (): Promise<Blob>
  formData (): Promise<FormData>
  textStream (): ReadableStream<string>
}

const NO_BYTES = Buffer.alloc(0)

const bytesOf = async ({ body }: Readable): Promise<Buffer> => body === null ? NO_BYTES : await body.bytes()

/** Throws at once the error of a body that has failed, so that the promise of its reader is rejected from the beginning. */
function sound (message: Readable): Readable {
  const failed = message.body?.errored ?? null
  if (failed !== null) throw failed.reason
  return message
}

/** Memory of its own, which is the caller's. */
function ownBytes (bytes: Buffer): Uint8Array<ArrayBuffer> { return new Uint8Array(bytes) }

/** `find` gives the message of an object, and throws a TypeError where the object is none. */
export function mixBody (prototype: object, find: (object: object) => Readable): void {
  const mixed = {
    get body (): ReadableStream<Uint8Array> | null {
      const message = find(this)
      return message.hidesBody === true ? null : message.body?.web ?? null
    },
    get bodyUsed (): boolean { return find(this).body?.used ?? false },
    async text (): Promise<string> {
      const { body } = sound(find(this))
      return body === null ? '' : await body.text()
    },
    async json (): Promise<unknown> {
      const { body } = sound(find(this))
      return JSON.parse(body === null ? '' : await body.text()) as unknown
    },
    async arrayBuffer (): Promise<ArrayBuffer> { return ownBytes(await bytesOf(sound(find(this)))).buffer },
    async bytes (): Promise<Uint8Array> { return ownBytes(await bytesOf(sound(find(this)))) },
    async blob (): Promise<Blob> {
      const message = sound(find(this))
      const bytes = await bytesOf(message)
      const mime = mimeOf(message.contentType())
      return new Blob([bytes as Uint8Array<ArrayBuffer>], { type: mime === null ? '' : mimeText(mime) })
    },
    async formData (): Promise<FormData> {
      const message = sound(find(this))
      const bytes = await bytesOf(message)
      return parseForm(bytes, mimeOf(message.contentType()))
    },
    textStream (): ReadableStream<string> {
      const { body } = find(this)
      if (body === null) return new ReadableStream({ start (controller) { controller.close() } })
      if (body.isUnusable) throw new TypeError('the body was used already')
      return body.web.pipeThrough<string>(new TextDecoderStream())
    }
  }
  Object.defineProperties(prototype, Object.getOwnPropertyDescriptors(mixed))
}
