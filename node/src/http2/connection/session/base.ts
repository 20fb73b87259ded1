// The part that sessions of node:http2 have in common, a client's and a server's: pings, what is known of settings, and checks of calls.

import { EventEmitter } from 'node:events'
import { inspect, type InspectOptions } from 'node:util'
import { Fifo } from '../../../fifo'
import { Pings } from '../../callbacks/pings'
import type { Timer } from '../../callbacks/timer'
import { checkBytes, checkNumber, outOfRange, plain } from '../../codes'
import { INITIAL, type Http2Settings } from '../../options/settings'

const STREAM_ID_MAX = 2 ** 32 - 1

export type SettingsCallback = (error: Error | null, settings?: Http2Settings, duration?: number) => void

export abstract class SessionBase extends EventEmitter {
  protected $timer: Timer | undefined
  protected $local = INITIAL
  /** Settings of extensions that were sent: they are shown from then on, as with node:http2. */
  protected $extensions: Pick<Http2Settings, 'customSettings'> = {}
  protected $shownLocal: Http2Settings | undefined
  protected $remote = INITIAL
  /** Changes of ours that the peer has not acknowledged, oldest first. */
  protected readonly $changes = new Fifo<{ settings: Http2Settings; callback?: SettingsCallback | undefined }>()
  /** A window of 0 was set last: a machine's is 1 at least. */
  protected $isWindowZero = false
  protected readonly $pings: Pings

  /** `pingsMax`: pings that may be unanswered. */
  constructor (pingsMax: number) {
    super()
    this.$pings = new Pings(pingsMax)
  }

  abstract readonly type: number
  abstract get closed (): boolean
  abstract get destroyed (): boolean
  abstract get state (): object
  abstract get localSettings (): Http2Settings
  abstract get remoteSettings (): Http2Settings
  /** Our settings behind `changes`, which the peer has acknowledged. */
  protected abstract $changedBy (changes: Http2Settings): Http2Settings

  [inspect.custom] (depth: number, options: InspectOptions): unknown {
    const { type, closed, destroyed, state, localSettings, remoteSettings } = this
    return depth < 0 ? this : `Http2Session ${inspect({ type, closed, destroyed, state, localSettings, remoteSettings }, { ...options, depth: options.depth == null ? null : options.depth - 1 })}`
  }

  setNextStreamID (id: number): void {
    this.$check()
    checkNumber(id, 'id')
    if (id <= 0 || id > STREAM_ID_MAX) throw outOfRange('id', `> 0 and <= ${STREAM_ID_MAX}`, id)
  }

  /** A sign of life. */
  $refresh (): void { this.$timer?.refresh() }

  protected $check (): void { if (this.destroyed) throw plain('ERR_HTTP2_INVALID_SESSION') }

  protected $checkGoaway (code: number, lastStreamID: number, data: unknown): void {
    this.$check()
    if (data !== undefined) checkBytes(data, 'opaqueData')
    checkNumber(code, 'code')
    checkNumber(lastStreamID, 'lastStreamID')
  }

  // Frames of the peer.

  protected $takeAcknowledgement (ms: number): void {
    const oldest = this.$changes.shift()
    if (oldest === undefined || this.destroyed) return
    this.$local = this.$changedBy(oldest.settings)
    this.$shownLocal = undefined
    oldest.callback?.(null, this.localSettings, ms)
    this.emit('localSettings', this.localSettings)
  }

  protected $takePing (payload: Buffer): void {
    if (this.destroyed) return
    this.$refresh()
    this.emit('ping', payload)
  }

  $onPong (payload: Buffer, ms: number): void { this.$pings.onPong(payload, ms) }
}
