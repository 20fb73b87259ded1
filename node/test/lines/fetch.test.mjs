// The tests of fetch on the other lines of Node.js.
import { LINES } from '../support/lines/lines.mjs'
import { fetchOnLine } from '../support/lines/on_line.mjs'
import { share } from '../support/share.mjs'

for (const line of share(LINES)) fetchOnLine(line)
