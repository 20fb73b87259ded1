// The part of a file's loop that one process runs: `TRUNKLINE_SHARE=2/4` is the second of four. Without it
// the file runs all of its loop.

const [number, count] = (process.env.TRUNKLINE_SHARE ?? '1/1').split('/').map(Number)
if (!(number >= 1 && number <= count)) throw new Error(`TRUNKLINE_SHARE is ${process.env.TRUNKLINE_SHARE}; it must be NUMBER/COUNT with NUMBER from 1 to COUNT`)

/** The elements of this process's share; the shares of all numbers together are the list. */
export const share = list => list.filter((_, index) => index % count === number - 1)
