import { onLine } from './support/on_line.mjs'

onLine('node22')
