// The tests of processes on the other lines of Node.js.
import { LINES } from '../support/lines/lines.mjs'
import { lifeOnLine } from '../support/lines/on_line.mjs'
import { share } from '../support/share.mjs'

for (const line of share(LINES)) lifeOnLine(line)
