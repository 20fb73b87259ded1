// Values of every kind, for options and for arguments of calls.
export const VALUES = {
  nothing: undefined, null: null, '-1': -1, 0: 0, 1: 1, 1.5: 1.5, 1000: 1000, NaN: NaN, Infinity: Infinity, "''": '', "'asd'": 'asd', true: true, false: false, '{}': {}, '[]': [], 'a symbol': Symbol('a'), '1n': 1n
}
/** An error with a code is known by it: each package has its own words. One without is known by its message. */
export const refusal = error => error?.code === undefined ? `${error?.name} ${error?.message}` : `${error.name} ${error.code}`
