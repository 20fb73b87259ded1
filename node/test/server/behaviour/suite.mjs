// One suite of behaviours for every form of a server on every version: a cell is a test, or says why
// there is none. `make test` gives each version a process of its own.
import { after, before, describe, test } from 'node:test'
import { behaviours } from './behaviours.mjs'
import { clients } from './clients.mjs'
import { faces } from './faces.mjs'
import { Notes } from './notes.mjs'
import { versions } from '../../support/clients/clients.mjs'

/** Pairs that cannot exist. */
function reasonAgainst (face, version) {
  if (face === 'core' && version.protocol === 'http/1.1') return 'the core API has no streams on HTTP/1.1'
}

/** Every behaviour of every form on one version. */
export function suite (name) {
  const version = versions.find(version => version.name === name)
  for (const [face, { make }] of Object.entries(faces)) {
    const skip = reasonAgainst(face, version)
    describe(`${version.name}, ${face}`, { skip }, () => {
      const context = { version, face, notes: new Notes() }
      before(async () => {
        const server = await make(version, context.notes)
        context.server = server
        context.port = server.port
        context.connections = server.connections
        context.connect = () => clients[version.name](server.port)
        context.client = context.connect()
      })
      after(async () => {
        await context.client.close()
        await context.server.end()
      })
      for (const { name, except, run } of behaviours) {
        const reason = except?.(face, version)
        test(`${version.name}, ${face}: ${name}`, { skip: reason || false }, () => run(context))
      }
    })
  }
}
