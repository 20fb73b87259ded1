// The permission model of Node.js (`--permission`), which its own modules ask. The addon does what they do in other ways, so this package asks too.

/** undefined: the program runs without it. */
const { permission } = process as { permission?: { has: (scope: string) => boolean } }
/** Whether it limits the network: on newer lines of Node.js, and not where it only reports. */
const limitsNet = permission !== undefined && process.allowedNodeEnvironmentFlags.has('--allow-net') &&
  ![...process.execArgv, process.env['NODE_OPTIONS'] ?? ''].some(text => text.includes('--permission-audit'))

const DENIED = 'Access to this API has been restricted. Use --allow-net to manage permissions.'

/** Whether files are to be opened by Node.js, which asks for each path. */
export const isLimited = permission !== undefined

const isNetDenied = (): boolean => limitsNet && !permission!.has('net')

/** Throws, as node:net does, where the program may not listen. `resource`: the path, else empty. */
export function checkListen (resource: string): void {
  if (isNetDenied()) throw Object.assign(new Error(DENIED), { code: 'ERR_ACCESS_DENIED', permission: 'Net', resource })
}

/** The error of a connection of node:net where the program may open none; null: it may. */
export function deniedConnection (): Error | null {
  return isNetDenied() ? Object.assign(new Error(`connect ERR_ACCESS_DENIED ${DENIED}`), { code: 'ERR_ACCESS_DENIED', syscall: 'connect' }) : null
}
