// pm2: servers in fork and cluster mode, and reloads of a cluster under load.
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const here = dirname(fileURLToPath(import.meta.url))
const home = mkdtempSync(join(tmpdir(), 'trunkline-pm2-'))
const run = promisify(execFile)
/** Reloads of a case, each of which replaces two workers. */
const RELOADS = 2
const CLIENTS = 4

async function pm2 (...args) {
  return await run(process.execPath, [join(here, 'node_modules/pm2/bin/pm2'), ...args], { env: { ...process.env, PM2_HOME: home, PM2_DISCRETE_MODE: 'true' }, maxBuffer: 1 << 24 })
}

async function freePort () {
  const probe = net.createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address()
  await new Promise(resolve => { probe.close(resolve) })
  return port
}

/** One request on a connection of its own, or on one of the agent's: the worker that has answered, or the error. */
function ask (port, agent = false) {
  return new Promise(resolve => {
    const request = http.get({ port, host: '127.0.0.1', agent }, response => {
      let text = ''
      response.on('data', chunk => { text += chunk })
      response.on('close', () => { resolve(response.complete ? { text } : { failed: 'cut' }) })
    })
    request.on('error', error => { resolve({ failed: error.code, reused: request.reusedSocket }) })
  })
}

/** Starts the program; its port and the status of its processes. */
async function start (side, ...args) {
  const port = await freePort()
  process.env.PORT = String(port)
  process.env.SIDE = side
  await pm2('start', join(here, 'server.cjs'), '--name', 'app', '--update-env', ...args)
  while ((await ask(port)).failed !== undefined) await new Promise(resolve => { setTimeout(resolve, 50) })
  return port
}

async function processes () {
  const { stdout } = await pm2('jlist')
  return JSON.parse(stdout.slice(stdout.indexOf('[')))
}

/** The outcomes of clients that ask while `work` is done; a request on a kept connection of the agent may cross its end. */
async function under (port, work, agent) {
  const outcome = { failed: {}, answered: 0 }
  let isOver = false
  const clients = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      let answer = await ask(port, agent)
      // As every client of HTTP/1.1 does that gets no answer on a kept connection (RFC 9112 section 9.3.1).
      if (answer.failed !== undefined && answer.reused) answer = await ask(port)
      if (answer.failed === undefined) outcome.answered++
      else outcome.failed[answer.failed] = (outcome.failed[answer.failed] ?? 0) + 1
    }
  })
  await work()
  isOver = true
  await Promise.all(clients)
  return { failed: outcome.failed, isAnswered: outcome.answered > 0 }
}

async function reloads (side, agent) {
  const port = await start(side, '-i', '2')
  const outcome = await under(port, async () => { for (let count = 0; count < RELOADS; count++) await pm2('reload', 'app') }, agent)
  const after = await processes()
  await pm2('delete', 'app')
  return { ...outcome, restarts: after.map(({ pm2_env: { restart_time: count, status } }) => [count, status]) }
}

export function cases (side) {
  return {
    'fork mode': async () => {
      const port = await start(side)
      const answer = await ask(port)
      await pm2('restart', 'app')
      while ((await ask(port)).failed !== undefined) await new Promise(resolve => { setTimeout(resolve, 50) })
      const [one, ...others] = await processes()
      await pm2('delete', 'app')
      return { answer: answer.text.replace(/\d+/, 'PID'), mode: one.pm2_env.exec_mode, status: one.pm2_env.status, others: others.length }
    },
    'cluster mode: both workers answer': async () => {
      const port = await start(side, '-i', '2')
      const pids = new Set()
      while (pids.size < 2) pids.add((await ask(port)).text)
      const modes = (await processes()).map(({ pm2_env: { exec_mode: mode, status } }) => [mode, status])
      await pm2('delete', 'app')
      return { modes, isRefused: (await ask(port)).failed }
    },
    'cluster mode: reloads lose no connection': () => reloads(side),
    'cluster mode: reloads lose no request on kept connections': async () => {
      const agent = new http.Agent({ keepAlive: true, maxSockets: CLIENTS })
      try {
        return await reloads(side, agent)
      } finally {
        agent.destroy()
      }
    },
    'cluster mode: more and fewer workers': async () => {
      const port = await start(side, '-i', '2')
      const outcome = await under(port, async () => {
        await pm2('scale', 'app', '3')
        await pm2('scale', 'app', '1')
      })
      const count = (await processes()).length
      await pm2('delete', 'app')
      return { ...outcome, count }
    }
  }
}

export async function end () {
  await pm2('kill').catch(() => {})
  rmSync(home, { recursive: true, force: true, maxRetries: 5 })
}
