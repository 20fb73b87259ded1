// The stories of failed requests: the engine makes the text of one when it is read first.

interface Unmade {
  number: number
  bridge: { ask: (verb: string, question: object) => unknown }
}

// Beside the errors, because console.log prints an error's own properties.
const stories = new WeakMap<object, Unmade | string>()

/** The story of `error` has this number at `bridge`. */
export function keepStory (error: object, bridge: Unmade['bridge'], number: number): void {
  stories.set(error, { number, bridge })
}

/** Undefined where there is none, and where the engine keeps it no more. */
export function storyOf (error: object): string | undefined {
  const story = stories.get(error)
  if (typeof story !== 'object') return story
  const text = story.bridge.ask('story', { number: story.number }) as string | null
  if (text === null) stories.delete(error)
  else stories.set(error, text)
  return text ?? undefined
}
