// What becomes of processes, on this Node; on the other lines `lines_*_life.test.mjs` asks.
import { life } from './support/life.mjs'

life(`node ${process.version}`, process.execPath)
