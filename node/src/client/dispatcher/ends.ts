// The requests of a dispatcher that is destroyed, and the order in which they fail, as with undici: what waits for a connection
// at once, and what a connection carries when that has closed.

import type { DirectRequest } from '../calls/direct_request'
import type { Exchange } from '../calls/exchange'
import type { DirectHop } from '../../fetch/call/hop'
import type { Load } from './load'

/** A request under way. */
export type Under = Exchange | DirectRequest | DirectHop

/** Requests of each origin, in the order in which they began. */
export class Ends {
  private readonly all = new Map<Load, Of>()

  constructor (loads: Iterable<Load>, exchanges: Iterable<Under>) {
    for (const load of loads) this.all.set(load, new Of(load))
    for (const exchange of exchanges) this.all.get(exchange.load!)!.add(exchange)
  }

  /** Those that wait for a connection. undici's pools keep a line behind the requests that connections are being opened for: it fails first. */
  * waiting (hasPools: boolean): Iterable<Under> {
    for (const { load, waiting } of this.all.values()) {
      const attempts = hasPools ? Math.max(load.connectionsMax - load.connections, 0) : 0
      yield * waiting.slice(attempts)
      yield * waiting.slice(0, attempts)
    }
  }

  /** Those that a connection carries. */
  * onConnections (): Iterable<Under> { for (const { carried } of this.all.values()) yield * carried.flat() }

  /** Those of the origin's connection at `place` among them, in the order in which they were opened. */
  carried (load: Load, place: number): Under[] { return this.all.get(load)?.carried[place] ?? [] }
}

/** Those to one origin. */
class Of {
  readonly waiting: Under[] = []
  /** By connection. */
  readonly carried: Under[][] = []
  private readonly room: number[]

  constructor (readonly load: Load) { this.room = load.rooms() }

  /** undici's pools give each connection one request first, and then fill one after another. */
  add (exchange: Under): void {
    const { carried, load, room } = this
    let at = room.findIndex((left, place) => left > 0 && carried[place] === undefined)
    if (at < 0) at = room.findIndex(left => left > 0)
    if (at < 0) return void this.waiting.push(exchange)
    room[at]! -= load.share(exchange.blocks)
    ;(carried[at] ??= []).push(exchange)
  }
}
