// The life of processes, on this Node; `../lines/*_life.test.mjs` test the other lines.
import { life } from '../support/lines/life.mjs'

life(`node ${process.version}`, process.execPath)
