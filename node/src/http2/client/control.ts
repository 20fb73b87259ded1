// The calls and events of a client's session that are of its connection: settings, pings, GOAWAY, windows and
// the timeout.

import { getPackedSettings } from 'node:http2'
import type { Duplex } from 'node:stream'
import { asked } from '../callbacks/asked'
import { bytesOf } from '../callbacks/pings'
import { checkCall, checkInteger, checkObject, ErrorCode, plain } from '../codes'
import { SessionBase, type SettingsCallback } from '../connection/session/base'
import { withCustom } from '../options/custom_settings'
import { remoteOf, type Http2Settings } from '../options/settings'
import type { Socket } from '../connection/socket'
import { Timer } from '../callbacks/timer'
import type { Machine } from './machines'
import { changedByClient, type ClientSessionBounds } from './settings'

/** Pings, and changes of settings, that may be under way: the default of node:http2. */
const OUTSTANDING_MAX = 10

/** A stream's socket, as far as it may be one of node:net or node:tls. */
export type Carrying = Duplex & Partial<Pick<Socket, 'remoteAddress' | 'remotePort' | 'remoteFamily' | 'servername' | 'encrypted' | 'alpnProtocol'>> & {
  connecting?: boolean
  secureConnecting?: boolean
  ref?: () => void
  unref?: () => void
  setNoDelay?: () => void
  disableRenegotiation?: () => void
}

export abstract class SessionControl extends SessionBase {
  protected $carrying: Carrying | undefined
  protected $pendingAck = 0

  constructor (protected readonly $options: ClientSessionBounds) { super($options.maxOutstandingPings ?? OUTSTANDING_MAX) }

  abstract get $machine (): Machine | undefined
  abstract get connecting (): boolean
  abstract $plan (): void
  abstract destroy (error?: Error | number | null, code?: number): void
  /** More requests may start than before. */
  abstract $onCapacity (): void

  get pendingSettingsAck (): boolean { return this.$pendingAck > 0 }
  /** Settings that were shown last stay when the session is destroyed, as with node:http2. */
  get localSettings (): Http2Settings { return this.destroyed || this.connecting ? this.$shownLocal ?? {} : (this.$shownLocal ??= { ...this.$local, ...this.$extensions }) }

  settings (settings: Http2Settings, callback?: SettingsCallback): void {
    this.$check()
    checkObject(settings, 'settings')
    const packed = getPackedSettings(settings)
    if (callback) checkCall(callback)
    this.$pendingAck++
    const submit = (): void => {
      if (this.destroyed) return
      this.$refresh()
      if (this.$changes.length >= Math.max(this.$options.maxOutstandingSettings ?? OUTSTANDING_MAX, 1)) {
        callback?.(plain('ERR_HTTP2_SETTINGS_CANCEL'))
        this.destroy(plain('ERR_HTTP2_MAX_PENDING_SETTINGS_ACK'))
        return
      }
      this.$changes.push({ settings: { ...settings }, callback: callback ? asked('HTTP2SETTINGS', callback) : undefined })
      this.$extensions = withCustom({ ...this.$extensions }, this.$extensions, settings ?? {})
      this.$machine!.settings(packed)
      this.$plan()
    }
    if (this.connecting) this.once('connect', submit)
    else submit()
  }

  ping (payload?: unknown, callback?: unknown): boolean | undefined {
    this.$check()
    return this.$pings.ping(payload, callback, this.connecting || this.closed, sent => {
      this.$machine!.ping(sent)
      this.$plan()
      return true
    })
  }

  goaway (code: number = ErrorCode.NoError, lastStreamID = 0, data?: NodeJS.ArrayBufferView): void {
    this.$checkGoaway(code, lastStreamID, data)
    // The last stream is one of the peer's (RFC 9113 section 6.8): with one of ours nothing is sent, as with node:http2.
    if (lastStreamID > 0 && lastStreamID % 2 === 1) return
    const submit = (): void => {
      if (this.destroyed) return
      this.$refresh()
      this.$machine!.goaway(code >>> 0, Math.max(lastStreamID, 0), bytesOf(data))
      this.$plan()
    }
    if (this.connecting) this.once('connect', submit)
    else submit()
  }

  setLocalWindowSize (size: number): void {
    this.$check()
    checkInteger(size, 'windowSize', 0, 2 ** 31 - 1)
    this.$isWindowZero = size === 0
    this.$machine?.setWindow(Math.max(size, 1))
    this.$plan()
  }

  override setNextStreamID (id: number): void {
    super.setNextStreamID(id)
    this.$machine?.skipTo(id)
  }

  setTimeout (time: number, callback?: () => void): this {
    if (this.destroyed) return this
    this.$timer = Timer.set(this.$timer, time, callback, this, () => { if (!this.destroyed) this.emit('timeout') })
    return this
  }

  ref (): void { this.$carrying?.ref?.() }
  unref (): void { this.$carrying?.unref?.() }

  // Input from the peer.

  $onSettings (values: number[]): void {
    if (this.destroyed) return
    this.$refresh()
    this.$remote = remoteOf(values, this.$remote, this.$options.remoteCustomSettings ?? [])
    this.emit('remoteSettings', this.$remote)
    this.$onCapacity()
  }

  $onSettingsAcknowledged (ms: number): void { this.$takeAcknowledgement(ms) }

  protected override $changedBy (changes: Http2Settings): Http2Settings {
    this.$pendingAck--
    const changed = changedByClient(this.$local, changes)
    return changes.enablePush === false ? { ...changed, enablePush: false } : changed
  }

  $onPing (payload: Buffer): void { this.$takePing(payload) }
}
