import { serveOnLine } from '../support/lines/on_line.mjs'

serveOnLine('node20')
