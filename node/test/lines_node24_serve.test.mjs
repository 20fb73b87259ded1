import { serveOnLine } from './support/on_line.mjs'

serveOnLine('node24')
