import { calls } from './calls.mjs'
import { faults } from './faults.mjs'
import { malformed } from './malformed.mjs'

export { start } from './service.mjs'
export const cases = given => ({ ...calls(given), ...faults(given), ...malformed(given) })
