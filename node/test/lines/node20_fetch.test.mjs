import { fetchOnLine } from '../support/lines/on_line.mjs'

fetchOnLine('node20')
