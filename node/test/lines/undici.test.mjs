// Everything that uses undici, and the built-in fetch, on the other lines of Node.js.
import { LINES } from '../support/lines/lines.mjs'
import { undiciOnLine } from '../support/lines/on_line.mjs'
import { share } from '../support/share.mjs'

for (const line of share(LINES)) undiciOnLine(line)
