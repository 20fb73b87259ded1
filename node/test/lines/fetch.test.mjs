// The tests of fetch on the oldest and the newest line of Node.js.
import { OUTERMOST } from '../support/lines/lines.mjs'
import { fetchOnLine } from '../support/lines/on_line.mjs'
import { share } from '../support/share.mjs'

for (const line of share(OUTERMOST)) fetchOnLine(line)
