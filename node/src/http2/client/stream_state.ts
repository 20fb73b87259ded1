// `state` of a client's stream.

import { windowLeft } from '../options/settings'

/** The states by nghttp2's numbers. */
const OPEN = 2
const HALF_CLOSED_LOCAL = 5
const HALF_CLOSED_REMOTE = 6
const CLOSED = 7
const WEIGHT_DEFAULT = 16

/** The state of a stream whose own side, or whose peer's, has ended; the others are those of `windowLeft`. */
export function stateOf (isFinished: boolean, isReceived: boolean, window: number | undefined, received: number, taken: number): object {
  const state = isFinished ? (isReceived ? CLOSED : HALF_CLOSED_LOCAL) : isReceived ? HALF_CLOSED_REMOTE : OPEN
  return { localWindowSize: windowLeft(window, received, taken), state, localClose: isFinished ? 1 : 0, remoteClose: isReceived ? 1 : 0, sumDependencyWeight: 0, weight: WEIGHT_DEFAULT }
}
