// Contexts of node:tls whose certificate and key are known: node's own do not give out their key.

import tls, { type SecureContext, type SecureContextOptions } from 'node:tls'
import { notProvided } from '../refused'

const known = new WeakMap<object, SecureContextOptions>()
/** As it was when this was loaded: `trunkline/register` puts ours in its place. */
const { createSecureContext: nodeCreateSecureContext } = tls

/** Does what `tls.createSecureContext` of Node.js does. Contexts made here are taken by the servers of this
 * package too: as an answer of `SNICallback`, and by `addContext`. */
export function createSecureContext (options: SecureContextOptions = {}): SecureContext {
  const context = nodeCreateSecureContext(options)
  known.set(context, { ...options })
  return context
}

/** The options of a context that exists or is to be created. */
export function optionsIn (given: SecureContext | SecureContextOptions): SecureContextOptions {
  if (!('context' in given)) return given
  const options = known.get(given)
  if (options === undefined) throw notProvided('a context that tls.createSecureContext has made is not taken, because it gives nobody its key: make it by createSecureContext of this package, or give cert and key')
  return options
}
