export function loader () { throw new Error('in a loader') }
