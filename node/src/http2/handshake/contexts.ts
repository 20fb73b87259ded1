// Numbers the contexts of SNICallback for the engine.

import type { SecureContext } from 'node:tls'
import { optionsIn } from '../../server/tls/context'
import { clientsOf, type ClientOptions } from '../../server/tls/clients'
import { admissionOf, identityIn } from '../../server/tls/identity'
import type { Listener } from '../../server/listener'
import { policyOf, type Policy } from '../../server/tls/policy'

export class Contexts {
  private readonly numbers = new WeakMap<object, number>()
  private readonly gone = new FinalizationRegistry<number>(number => { this.listener.forgetContext(number) })

  /** `server`: whom it asks for certificates, and what it agrees to. */
  constructor (private readonly listener: Listener, private readonly server: { clients?: ClientOptions; policy?: Policy | undefined }) {}

  /** The number of a context, which is sent to the engine once and removed when the object is collected. */
  numberOf (context: SecureContext): number {
    const known = this.numbers.get(context)
    if (known !== undefined) return known
    // As node has it for what is none.
    if (typeof context !== 'object' || !('context' in context)) throw new TypeError('Invalid SNI context')
    const options = optionsIn(context)
    const { requestCert, rejectUnauthorized } = this.server.clients ?? {}
    // With its authorities, and with the server's own policy where it has none.
    const clients = clientsOf({ ...admissionOf({ ...options, requestCert: requestCert ?? false }), rejectUnauthorized })
    const number = this.listener.reportContext({ ...identityIn(options), clients, policy: policyOf(options) ?? this.server.policy })
    this.numbers.set(context, number)
    this.gone.register(context, number)
    return number
  }
}
