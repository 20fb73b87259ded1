// Chooses the settings of a handshake with SNICallback and ALPNCallback of node:tls.

import { inspect } from 'node:util'
import type { SecureContext } from 'node:tls'
import { coded } from '../codes'
import type { Hello } from '../../server/callbacks'
import type { Socket } from '../connection/socket'

/** Options of node:tls by which a server chooses. */
export interface Chooser {
  SNICallback?: ((servername: string, answer: (error: Error | null, context?: SecureContext) => void) => void) | undefined
  ALPNCallback?: ((asked: { servername: string; protocols: string[] }) => string | undefined) | undefined
}

/** Takes their choice. */
interface Chosen {
  /** The place of a protocol among the client's; null: none of them, undefined: whatever is offered. */
  choose: (context: SecureContext | undefined, protocol?: number | null) => void
  refuse: (error: Error) => void
}

/** Asks them, on `socket`. */
export function choose ({ SNICallback, ALPNCallback }: Chooser, { servername, protocols }: Hello, socket: Socket, chosen: Chosen): void {
  let isAnswered = false
  const goOn = (context?: SecureContext): void => {
    if (ALPNCallback === undefined || protocols.length === 0) return chosen.choose(context)
    const protocol = ALPNCallback.call(socket, { servername: servername ?? '', protocols: [...protocols] })
    if (protocol === undefined) return chosen.choose(context, null)
    const place = protocols.indexOf(protocol)
    if (place === -1) throw invalidResult(protocol, protocols)
    chosen.choose(context, place)
  }
  /** An exception of a callback fails the handshake, as with node. */
  const attempt = (call: () => void): void => {
    try {
      call()
    } catch (error) {
      isAnswered = true
      chosen.refuse(error as Error)
    }
  }
  attempt(() => {
    if (SNICallback === undefined || servername === undefined) return goOn()
    SNICallback.call(socket, servername, (error, context) => {
      // The handshake goes on already.
      if (isAnswered) return
      isAnswered = true
      if (error) return chosen.refuse(error)
      attempt(() => { goOn(context ?? undefined) })
    })
  })
}

function invalidResult (chosen: unknown, protocols: string[]): Error {
  const text = `ALPNCallback has chosen ${inspect(chosen)}; it must be one of what the client offers (${protocols.join(', ')}), or undefined`
  return coded(TypeError, 'ERR_TLS_ALPN_CALLBACK_INVALID_RESULT', text)
}
