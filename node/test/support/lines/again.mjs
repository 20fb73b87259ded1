// Programs that are compared, run once more where they did not say what is expected. On a busy machine the events
// of two sockets, or of a timer and a socket, come in another order now and then; a fault says the same each time.

/** How often a program is run again. */
const ROUNDS_MAX = 3
/** More failures than these are not chance. */
const NAMES_MAX = 20

/** `results` are what the subjects said, by program; `unexpected()` names the programs with another outcome than
 * the expected one; `run(index, names)` runs those with the subject `index`. What they say replaces what they said. */
export async function again (results, unexpected, run) {
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const names = unexpected()
    if (names.length === 0 || names.length > NAMES_MAX) return
    // One after the other: each has the machine to itself, as far as this file goes.
    for (const [index, result] of results.entries()) {
      for (const [name, lines] of (await run(index, names)).programs) result.programs.set(name, lines)
    }
  }
}
