// The response of `request`: its status, its fields and its body.

import { inspect } from 'node:util'
import { addFields, fieldsObject, fieldsOf, rawFields, type Fields } from '../prepare/head'
import { Body, type BodySource } from './answer_body'

/**
 * The context where no interceptor sets one: null, as with undici, whose types do not allow null
 * here.
 */
const NOTHING = null as unknown as object

/** A response: what undici's calls give, as properties of its own, so that it can be spread and printed. */
export class Answer {
  /** Fields by lower-case name; a name that came more than once has an array. */
  headers: Fields
  /** Filled when the body has ended. */
  readonly trailers: Record<string, string> = {}
  readonly opaque: any
  readonly body: Body
  /** The interceptors' context of the exchange. */
  readonly context: object
  readonly #text: string
  readonly #version: number

  constructor (
    readonly statusCode: number,
    readonly statusText: string,
    version: number,
    text: string,
    bodySource: BodySource,
    extras: { opaque?: unknown; highWaterMark?: number; method?: string },
    context: object = NOTHING
  ) {
    this.#text = text
    this.#version = version
    this.headers = fieldsOf(text)
    this.opaque = extras.opaque || null
    this.body = new Body(bodySource, name => this.field(name), extras.method, extras.highWaterMark)
    this.context = context
  }

  /** 11, 20 or 30: the version that it came over. */
  get version (): number { return this.#version }
  /** Names and values in turn, as received. */
  get rawHeaders (): string[] { return rawFields(this.#text) }

  /** console.log prints it as undici's, which is an object of no class. */
  [inspect.custom] (): object {
    const { statusCode, statusText, headers, trailers, opaque, body, context } = this
    return { statusCode, statusText, headers, trailers, opaque, body, context }
  }

  private field (name: string): string | undefined {
    const { headers } = this
    const value = (Array.isArray(headers) ? fieldsObject(headers as string[]) : headers)[name]
    return typeof value === 'string' ? value : undefined
  }

  end (trailers: string): void { if (trailers !== '') addFields(this.trailers, fieldsObject(rawFields(trailers))) }
}
