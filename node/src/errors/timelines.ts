// The timelines of failed requests: the engine makes the text of one when it is read first.

interface Unmade {
  number: number
  bridge: { ask: (verb: string, question: object) => unknown }
}

// Beside the errors, because console.log prints an error's own properties.
const timelines = new WeakMap<object, Unmade | string>()

/** The timeline of `error` has this number at `bridge`. */
export function keepTimeline (error: object, bridge: Unmade['bridge'], number: number): void {
  timelines.set(error, { number, bridge })
}

/** Undefined where there is none, and where the engine keeps it no more. */
export function timelineOf (error: object): string | undefined {
  const timeline = timelines.get(error)
  if (typeof timeline !== 'object') return timeline
  const text = timeline.bridge.ask('timeline', { number: timeline.number }) as string | null
  if (text === null) timelines.delete(error)
  else timelines.set(error, text)
  return text ?? undefined
}
