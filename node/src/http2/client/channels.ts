// The diagnostics channels of node's HTTP/2 clients, for tracing tools.

import { channel } from 'node:diagnostics_channel'
import type { Headers } from '../fields'

const created = channel('http2.client.stream.created')
const started = channel('http2.client.stream.start')
const failed = channel('http2.client.stream.error')
const answered = channel('http2.client.stream.finish')
const closed = channel('http2.client.stream.close')
const sentPart = channel('http2.client.stream.bodyChunkSent')
const sentWhole = channel('http2.client.stream.bodySent')

interface Traced { readonly sentHeaders: Headers | undefined }

export function showCreated (stream: Traced): void {
  if (created.hasSubscribers) created.publish({ stream, headers: stream.sentHeaders })
}
export function showStarted (stream: Traced): void {
  if (started.hasSubscribers) started.publish({ stream, headers: stream.sentHeaders })
}
export function showAnswered (stream: object, headers: Headers, flags: number): void {
  if (answered.hasSubscribers) answered.publish({ stream, headers, flags })
}
export function showFailed (stream: object, error: Error): void {
  if (failed.hasSubscribers) failed.publish({ stream, error })
}
export function showClosed (stream: object): void { if (closed.hasSubscribers) closed.publish({ stream }) }
export function showPart (stream: object, writev: boolean, data: unknown, encoding: string): void {
  if (sentPart.hasSubscribers) sentPart.publish({ stream, writev, data, encoding })
}
export function showWhole (stream: object): void { if (sentWhole.hasSubscribers) sentWhole.publish({ stream }) }
