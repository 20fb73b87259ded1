import { dispatchersOnLine } from './support/on_line.mjs'

dispatchersOnLine('node22')
