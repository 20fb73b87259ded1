// Connection ids of HTTP/3 by which load balancers find a server (QUIC-LB).

import { inspect, types } from 'node:util'
import { InvalidArgumentError } from '../../errors'

/** How the connection ids of HTTP/3 name this server to load balancers (draft-ietf-quic-load-balancers-21). */
export interface QuicLb {
  /** This server's id, its own among the servers behind the balancer: 1 to 13 bytes, or their hexadecimal digits. */
  serverId: Uint8Array | string
  /** Random bytes behind the server id, 4 or more; both together 17 at most. Default: 8. */
  nonceBytes?: number
  /** The number of the balancer's configuration, 0 to 6. Default: 0. */
  rotation?: number
  /** Encrypts server id and nonce: 16 bytes, or their hexadecimal digits, which the balancer has too. Default: they can be read. */
  key?: Uint8Array | string
}

const SERVER_ID_BYTES_MAX = 13
const KEY_BYTES = 16
const NONCE_BYTES_MIN = 4
const PLAINTEXT_BYTES_MAX = 17
const ROTATION_MAX = 6
const NAMES = ['serverId', 'nonceBytes', 'rotation', 'key']

function bytesOf (name: string, value: unknown, min: number, max: number): number[] {
  const isDigits = typeof value === 'string' && /^([0-9a-f]{2})*$/i.test(value)
  const bytes = isDigits ? Buffer.from(value, 'hex') : value
  if (types.isUint8Array(bytes) && bytes.length >= min && bytes.length <= max) return [...bytes]
  // A key is a secret.
  const shown = name === 'key' ? '' : `is ${inspect(value)}; it `
  throw new InvalidArgumentError(`quicLb.${name} ${shown}must be ${min === max ? min : `${min} to ${max}`} bytes, or their hexadecimal digits`)
}

function checkWhole (name: string, value: unknown, min: number, max: number): void {
  if (value === undefined || (Number.isInteger(value) && (value as number) >= min && (value as number) <= max)) return
  throw new InvalidArgumentError(`quicLb.${name} is ${inspect(value)}; it must be an integer from ${min} to ${max}`)
}

/** As the engine takes it; throws where a value is out of its range. */
export function quicLbOf (quicLb: QuicLb): object {
  if (typeof quicLb !== 'object' || quicLb === null) throw new InvalidArgumentError(`quicLb is ${inspect(quicLb)}; it must be an object with serverId`)
  for (const name of Object.keys(quicLb)) if (!NAMES.includes(name)) throw new InvalidArgumentError(`quicLb has no ${name}; it has ${NAMES.join(', ')}`)
  const { nonceBytes, rotation, key } = quicLb
  const serverId = bytesOf('serverId', quicLb.serverId, 1, SERVER_ID_BYTES_MAX)
  checkWhole('nonceBytes', nonceBytes, NONCE_BYTES_MIN, PLAINTEXT_BYTES_MAX - serverId.length)
  checkWhole('rotation', rotation, 0, ROTATION_MAX)
  return { serverId, nonceBytes, rotation, key: key === undefined ? undefined : bytesOf('key', key, KEY_BYTES, KEY_BYTES) }
}
