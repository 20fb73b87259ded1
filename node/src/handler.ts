// A handler of the new ABI with the old ABI's calls beside: interceptors of undici 6 and dispatchers
// of that age know no other.

import type { Duplex } from 'node:stream'
import type { Exchange, NewHandler, OldHandler } from './exchange'
import { fieldsObject } from './head'

type Raw = (string | Buffer)[] | null | undefined

function textsOf (raw: Raw): string[] {
  return (raw ?? []).map((field, at) => {
    const text = typeof field === 'string' ? field : field.toString('latin1')
    return at % 2 === 0 ? text.toLowerCase() : text
  })
}

/** The controller that a handler gets where there is only an `abort` and a `resume`. */
class OldController {
  rawHeaders: string[] = []
  rawTrailers: string[] = []
  aborted = false
  paused = false
  reason: unknown = null
  resumes: () => void = () => {}

  constructor (private readonly aborts: (reason?: Error) => void) {}

  abort (reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    this.aborts(reason)
  }
  pause (): void { this.paused = true }
  resume (): void {
    if (!this.paused) return
    this.paused = false
    this.resumes()
  }
}

/** `handler`, to be called in either way. */
export function both (handler: NewHandler): NewHandler & OldHandler {
  let old = new OldController(() => {})
  const controller = (): Exchange => old as unknown as Exchange
  const calls: OldHandler = {
    onConnect (abort: (reason?: Error) => void, context: unknown) {
      old = new OldController(abort)
      handler.onRequestStart(controller(), context)
    },
    onUpgrade (status: number, raw: Raw, socket: Duplex) {
      old.rawHeaders = textsOf(raw)
      handler.onRequestUpgrade?.(controller(), status, fieldsObject(old.rawHeaders), socket)
    },
    onHeaders (status: number, raw: Raw, resume: () => void, text: string) {
      old.rawHeaders = textsOf(raw)
      old.resumes = resume
      handler.onResponseStart?.(controller(), status, fieldsObject(old.rawHeaders), text)
      return !old.paused
    },
    onData (chunk: Buffer) {
      handler.onResponseData?.(controller(), chunk)
      return !old.paused
    },
    onComplete (raw: Raw) {
      old.rawTrailers = textsOf(raw)
      handler.onResponseEnd?.(controller(), fieldsObject(old.rawTrailers))
    },
    onError (error: Error) { handler.onResponseError?.(controller(), error) }
  }
  return Object.assign(handler, calls)
}
