// Refuses lines of Node.js that are too old, before anything else of the package is loaded.

import { seeHelp } from './errors/help'

const OLDEST = 20

/** The line of Node.js: 20, 22, 24 .. */
export const nodeLine = Number.parseInt(process.versions.node, 10)
if (nodeLine < OLDEST) {
  const message = `trunkline needs Node.js ${OLDEST} or newer, and this is ${process.version}: install a newer line from nodejs.org, or by nvm or fnm${seeHelp('TRUNKLINE_NODE')}`
  throw Object.assign(new Error(message), { code: 'TRUNKLINE_NODE' })
}
