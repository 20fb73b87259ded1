// Several copies of the package in one process, as tools for tests make that load modules again.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

test('copies of the package that are loaded one after another serve, and Node.js warns of no leak', { timeout: 60_000 }, async () => {
  const { stdout, stderr } = await run(process.execPath, ['-e', `
    const load = () => {
      for (const file of Object.keys(require.cache)) delete require.cache[file]
      return require('trunkline')
    }
    const copies = new Set()
    const serveOnce = async () => {
      const copy = load()
      copies.add(copy)
      const server = copy.createServer((request, response) => { response.end('served') })
      await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
      const dispatcher = new copy.Agent()
      const { body } = await copy.request('http://127.0.0.1:' + server.address().port, { dispatcher })
      const text = await body.text()
      await dispatcher.close()
      await new Promise(resolve => { server.close(resolve) })
      return text
    }
    const all = async () => {
      const texts = new Set()
      for (let n = 0; n < 12; n++) texts.add(await serveOnce())
      console.log(copies.size, ...texts)
    }
    all()
  `], { cwd: fileURLToPath(new URL('..', import.meta.url)) })
  assert.deepEqual([stdout, stderr], ['12 served\n', ''])
})
