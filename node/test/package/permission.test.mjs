// Programs under the permission model of Node.js, which are allowed addons and not all else: the addon opens nothing that they may not.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = realpathSync(fileURLToPath(new URL('../../..', import.meta.url)))
const permission = process.allowedNodeEnvironmentFlags.has('--permission') ? '--permission' : '--experimental-permission'
const LIMITS_NET = process.allowedNodeEnvironmentFlags.has('--allow-net')

/** The lines that a program prints, which may read the files of the package alone. */
async function printed (program, ...allowed) {
  const args = [permission, '--allow-addons', `--allow-fs-read=${join(root, '*')}`, ...allowed, '--no-warnings', '--input-type=module', '-e', program]
  const { stdout } = await run(process.execPath, args, { cwd: join(root, 'node/test'), timeout: 60_000 })
  return stdout.trim().split('\n')
}

test('serve does not answer with files that its program may not read', { timeout: 120_000 }, async t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-permission-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  const secret = join(folder, 'secret')
  writeFileSync(secret, 'secret')
  const lines = await printed(`
    import { file, request, Response, serve } from 'trunkline'
    const own = ${JSON.stringify(join(root, 'LICENSE-MIT'))}
    const secret = ${JSON.stringify(secret)}
    const routes = { '/route': file(secret), '/own': file(own), '/part': () => new Response(file(secret).slice(1)), '/status': () => new Response(file(secret), { status: 201 }) }
    const server = serve({ port: 0, hostname: '127.0.0.1', development: false, routes, fetch: () => new Response(file(secret)), error: error => new Response(error.code) })
    for (const path of ['route', 'fetch', 'part', 'status', 'own', 'route']) {
      const { body } = await request(server.url.href + path)
      console.log(path, (await body.text()).split(' ')[0])
    }
    await server.stop(true)
  `, ...LIMITS_NET ? ['--allow-net'] : [])
  assert.deepEqual(lines, ['route ERR_ACCESS_DENIED', 'fetch ERR_ACCESS_DENIED', 'part ERR_ACCESS_DENIED', 'status ERR_ACCESS_DENIED', 'own MIT', 'route ERR_ACCESS_DENIED'])
})

/** Opens sockets by the addon, and prints the refusals. */
const SOCKETS = `
  import { Agent, createServer, fetch, request, Response, serve } from 'trunkline'
  const agent = new Agent()
  const attempt = async (name, call) => console.log(name, await Promise.resolve().then(call).then(() => 'done', error => [error.cause?.code ?? error.code, error.permission ?? error.cause?.syscall ?? error.syscall].join(' ')))
  const place = 'http://127.0.0.1:9'
  await attempt('request', () => request(place, { dispatcher: agent }))
  await attempt('fetch', () => fetch('http://127.0.0.1:9009', { dispatcher: agent }))
  await attempt('warmUp', () => agent.warmUp(place))
  await attempt('inspect', () => agent.inspect().close())
  await attempt('createServer', () => new Promise(resolve => { const server = createServer(); server.listen(0, () => { server.close(resolve) }) }))
  await attempt('serve', () => serve({ port: 0, fetch: () => new Response('') }).stop(true))
  await agent.destroy()
`

test('dispatchers and servers open no socket where the program may not use the network', { timeout: 120_000, skip: !LIMITS_NET }, async () => {
  const denied = await printed(SOCKETS)
  assert.deepEqual(denied, ['request ERR_ACCESS_DENIED connect', 'fetch ERR_ACCESS_DENIED connect', 'warmUp ERR_ACCESS_DENIED connect', 'inspect ERR_ACCESS_DENIED Net', 'createServer ERR_ACCESS_DENIED Net', 'serve ERR_ACCESS_DENIED Net'])
})

test('dispatchers and servers open sockets where the program may use the network', { timeout: 120_000 }, async () => {
  const lines = await printed(SOCKETS, ...LIMITS_NET ? ['--allow-net'] : [])
  assert.deepEqual(lines.filter(line => line.endsWith('done')), ['inspect done', 'createServer done', 'serve done'])
  assert.deepEqual(lines.filter(line => line.includes('DENIED')), [])
})
