// Errors for options and features that do not exist here.

/** The error for it, with the code that node has for what a platform lacks. */
export const notProvided = (what: string): Error & { code: string } => Object.assign(new Error(what), { code: 'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM' })
