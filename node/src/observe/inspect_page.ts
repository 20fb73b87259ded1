// The page that shows what a server or a dispatcher is doing: served by the engine on a thread of its own, so that it answers
// while JavaScript is busy.

import type { Failure } from '../channel/ring'
import { InvalidArgumentError } from '../errors'
import { errorOf } from '../errors/failures'
import { listenError, NO_PORT } from '../server/listen/error'
import { checkListen } from '../permission'

/** Where the page of `inspect` is served, and to whom. */
export interface InspectPageOptions {
  /** From 0 to 65,535; 0: a free one. Default: 0. */
  port?: number
  /** A name or an address. One that is not loopback's needs `token`. Default: '127.0.0.1'. */
  host?: string
  /** Path of a Unix socket in place of a port, which its owner alone can connect to. */
  path?: string
  /**
   * The text that readers must give, as `authorization: Bearer TOKEN`; the page asks for it. 16 visible ASCII characters or more. Default: none. The
   * page is in cleartext: a token protects it only where the network is trusted.
   */
  token?: string
}

/** A page that is open until it is closed, or what it shows has ended. It does not keep the process alive. */
export interface InspectPage {
  /**
   * The page's address; of a Unix socket `unix:` and its path. `/state.json` beside it has the same state for programs, `/metrics` the
   * counts; `trunkline top` shows it in a terminal.
   */
  readonly url: string
  /** Closes it at once, for its readers too. */
  close: () => void
}

/** The answer of the engine. */
interface Opened { page: number; address?: string; family?: string; port?: number; path?: string }

/** Opens a page by `open`, and closes it by `close`: questions for the engine, whose failures are thrown as it says them. */
export function openPage (options: InspectPageOptions, open: (page: object) => unknown, close: (page: number) => void): InspectPage {
  if (options === null || typeof options !== 'object') throw new InvalidArgumentError('the options of inspect must be an object')
  const { port = 0, host = '127.0.0.1', path, token } = options
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw new InvalidArgumentError(`port of inspect is ${port}; it must be an integer from 0 to 65535`)
  for (const [name, value] of Object.entries({ host, path, token })) {
    if (value !== undefined && (typeof value !== 'string' || value === '')) throw new InvalidArgumentError(`${name} of inspect must be a text that is not empty`)
  }
  checkListen(path ?? '')
  let opened: Opened
  try {
    opened = open({ host, port, path, token }) as Opened
  } catch (thrown) {
    const failure = thrown as Failure
    if (failure.system == null) throw errorOf(failure, false)
    throw listenError(failure, path ?? host, path === undefined ? port : NO_PORT)
  }
  const at = opened.family === 'IPv6' ? `[${opened.address}]` : opened.address
  return {
    url: opened.path === undefined ? `http://${at}:${opened.port}/` : `unix:${opened.path}`,
    close: () => { close(opened.page) }
  }
}
