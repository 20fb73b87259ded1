import { parityOnLine } from '../support/lines/on_line.mjs'

parityOnLine('node22')
