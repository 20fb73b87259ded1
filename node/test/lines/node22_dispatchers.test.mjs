import { dispatchersOnLine } from '../support/lines/on_line.mjs'

dispatchersOnLine('node22')
