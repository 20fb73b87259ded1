// The life of processes, on this Node; `lines_*_life.test.mjs` tests the other lines.
import { life } from './support/life.mjs'

life(`node ${process.version}`, process.execPath)
