import { lifeOnLine } from '../support/lines/on_line.mjs'

lifeOnLine('node22')
