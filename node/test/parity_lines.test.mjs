// What is compared with node:http2 on this Node is compared on the other lines too.
import test from 'node:test'
import { compare } from './parity/compare.mjs'
import { lines } from './support/lines.mjs'

for (const [line, program] of Object.entries(lines)) {
  test(`${line}: every program says the same, but those on the list`, () => compare(program, line.replace('node', '')))
}
