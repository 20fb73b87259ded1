import { undiciOnLine } from '../support/lines/on_line.mjs'

undiciOnLine('node26')
