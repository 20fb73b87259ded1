// Errors for options and features that do not exist here.

export interface RefusedError extends Error { code: string }

/** The error for it, with the code that node has for what a platform lacks. */
export function notProvided (what: string): RefusedError {
  return Object.assign(new Error(what), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
}
