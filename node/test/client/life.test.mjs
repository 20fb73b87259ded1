// The life of processes, on this Node; `../lines/life.test.mjs` tests the other lines.
import { life } from '../support/lines/life.mjs'

life(`node ${process.version}`, process.execPath)
