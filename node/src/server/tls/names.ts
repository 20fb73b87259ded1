// Names by which a server has further certificates: those that clients can ask for (SNI, RFC 6066 section 3).

import { notProvided } from '../refused'

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
/** A host name. Its last label is not of digits alone, as that of an address is. */
const HOST = new RegExp(`^(?=.{1,253}$)(?:${LABEL}\\.)*(?!\\d+\\.?$)${LABEL}\\.?$`, 'i')

/**
 * Whether a client can ask for a name that a certificate covers which is given for `name`: for an address, or a name with a port, none does.
 *
 * @throws Error (`ERR_FEATURE_UNAVAILABLE_ON_PLATFORM`) for a pattern of node:tls that is not `*.rest`.
 */
export function canBeAskedFor (name: string): boolean {
  const rest = name.startsWith('*.') ? name.slice(2) : name
  if (rest.includes('*')) throw notProvided(`addContext of ${name} is not taken: it must be a host name, or *.rest for every name with one label more`)
  return HOST.test(rest)
}
