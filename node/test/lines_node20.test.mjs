import { undiciOnLine } from './support/on_line.mjs'

undiciOnLine('node20')
