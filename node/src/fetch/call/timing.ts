// The entry of a fetch among the resource timings of the process (https://w3c.github.io/resource-timing/).

import { performance } from 'node:perf_hooks'

type Mark = (timing: object, url: string, initiator: string, global: object, cache: string, body: object, status: number, delivery: string) => void

const mark = (performance as unknown as { markResourceTiming?: Mark }).markResourceTiming

/** When the parts of one fetch were, in ms of `performance.now()`. */
export class Timing {
  private readonly started = performance.now()
  private redirected = 0
  private sent = 0
  private answered = 0
  private ended = 0
  private status = 0

  onSend (): void { this.sent = performance.now() }
  onRedirect (): void { this.redirected = performance.now() }

  onHead (status: number): void {
    this.answered = performance.now()
    this.status = status
  }

  /** Nothing more of the response comes. */
  onEnd (): void { this.ended = performance.now() }

  /** Marks a response: `bytes` of content have come, which made `decoded` of its reader's. */
  mark (url: string, bytes: number, decoded: number): void {
    if (mark === undefined) return
    const requested = this.redirected || this.started
    const timing = {
      startTime: this.started,
      redirectStartTime: this.redirected === 0 ? 0 : this.started,
      redirectEndTime: this.redirected,
      postRedirectStartTime: requested,
      finalServiceWorkerStartTime: 0,
      finalNetworkRequestStartTime: this.sent,
      finalNetworkResponseStartTime: this.answered,
      endTime: this.ended,
      encodedBodySize: bytes,
      decodedBodySize: decoded,
      // As of a connection that was there before (https://fetch.spec.whatwg.org/#clamp-and-coarsen-connection-timing-info).
      finalConnectionTimingInfo: {
        domainLookupStartTime: requested,
        domainLookupEndTime: requested,
        connectionStartTime: requested,
        connectionEndTime: requested,
        secureConnectionStartTime: requested,
        ALPNNegotiatedProtocol: undefined
      }
    }
    mark(timing, url, 'fetch', globalThis, '', { encodedSize: bytes, decodedSize: decoded }, this.status, '')
  }
}
