// Contexts of node:tls whose certificate and key are known: those of node's own give nobody their key.

import { createSecureContext as nodeCreateSecureContext, type SecureContext, type SecureContextOptions } from 'node:tls'
import { notProvided } from './refused'

const known = new WeakMap<object, SecureContextOptions>()

/** Does what `tls.createSecureContext` of Node.js does. Contexts made here are taken by the servers of this
 * package too: as an answer of `SNICallback`, and by `addContext`. */
export function createSecureContext (options: SecureContextOptions = {}): SecureContext {
  const context = nodeCreateSecureContext(options)
  known.set(context, { ...options })
  return context
}

/** What a context was made of, or what one is to be made of. */
export function optionsIn (given: SecureContext | SecureContextOptions): SecureContextOptions {
  if (!('context' in given)) return given
  const options = known.get(given)
  if (options === undefined) throw notProvided('a context that tls.createSecureContext has made is not taken, because it gives nobody its key: make it by createSecureContext of this package, or give cert and key')
  return options
}
