// Uploads that can be resumed (tus), in pieces of several requests.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FileStore } from '@tus/file-store'
import { Server } from '@tus/server'

export function start ({ create }) {
  const directory = mkdtempSync(join(tmpdir(), 'trunkline-tus-'))
  process.on('exit', () => { rmSync(directory, { recursive: true, force: true }) })
  const tus = new Server({ path: '/files', datastore: new FileStore({ directory }), namingFunction: (request, { name }) => name, relativeLocation: true })
  return create((request, response) => tus.handle(request, response))
}

const tus = { 'tus-resumable': '1.0.0' }
const piece = offset => ({ ...tus, 'upload-offset': String(offset), 'content-type': 'application/offset+octet-stream' })
const HALF = 'x'.repeat(100_000)
/** An upload under a name of its own for each version, step by step. */
const uploaded = async ({ ask, version }) => {
  const path = `/files/${version}`
  const steps = []
  const step = async (path, options) => {
    const { status, headers, body } = await ask(path, options)
    steps.push([status, headers.location ?? null, headers['upload-offset'] ?? null, headers['upload-length'] ?? null, body])
  }
  await step('/files', { method: 'POST', headers: { ...tus, 'upload-length': '200000', 'upload-metadata': `name ${Buffer.from(version).toString('base64')}` } })
  await step(path, { method: 'PATCH', headers: piece(0), body: HALF })
  await step(path, { method: 'HEAD', headers: tus })
  await step(path, { method: 'PATCH', headers: piece(5), body: 'wrong' })
  await step(path, { method: 'PATCH', headers: piece(100_000), body: HALF })
  await step(path, { method: 'GET' })
  await step(path, { method: 'DELETE', headers: tus })
  await step(path, { method: 'HEAD', headers: tus })
  return JSON.parse(JSON.stringify(steps).replaceAll(version, 'VERSION'))
}

export const requests = [
  { path: '/files', method: 'OPTIONS' },
  { path: '/files', name: 'an upload in two pieces', run: uploaded },
  { path: '/files', method: 'POST' },
  { path: '/files/none', method: 'HEAD', headers: tus }
]
