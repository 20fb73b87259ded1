// Node's own `Headers`, `Request` and `Response`, loaded on first use: Node loads all of its fetch
// with the first of them (19 MiB of resident memory, 30 to 40 ms), which programs that serve in
// another way must not pay for.

type Name = 'Headers' | 'Request' | 'Response'

/** Finds the class of that name; from the first time on, instances of `own` are instances of it too. */
export function builtIn<N extends Name> (name: N, own: () => { prototype: object }): () => typeof globalThis[N] {
  let found: typeof globalThis[N] | undefined
  return () => {
    if (found === undefined) {
      found = globalThis[name]
      Object.setPrototypeOf(own().prototype, found.prototype)
    }
    return found
  }
}
