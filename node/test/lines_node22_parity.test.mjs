import { parityOnLine } from './support/on_line.mjs'

parityOnLine('node22')
