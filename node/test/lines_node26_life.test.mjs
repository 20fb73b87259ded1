import { lifeOnLine } from './support/on_line.mjs'

lifeOnLine('node26')
