// Cases that wait more than they work, a few at once.

/** As many of them wait at once; more would be late beside each other on two cores. */
const AT_ONCE = 8

/** Runs `run` with each of `cases`, in their order, at most `atOnce` of them at once. One that fails fails
 * all, when the others have ended. */
export async function together (cases, run, atOnce = AT_ONCE) {
  const left = cases[Symbol.iterator]()
  const work = async () => {
    for (const one of left) await run(one)
  }
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, work))
  const failed = ended.find(({ status }) => status === 'rejected')
  if (failed !== undefined) throw failed.reason
}
