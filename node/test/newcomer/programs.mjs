// Runs the programs of the documents in a folder where only the packages are installed.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import net from 'node:net'
import { join } from 'node:path'
import tls from 'node:tls'
import { setTimeout as wait } from 'node:timers/promises'

/** Longest time of one program: a bound against one that hangs, not a measure. */
const PROGRAM_MS_MAX = 120_000
const POLL_MS = 50

/** A program that runs: its output so far, and its end. */
class Running {
  constructor (command, args, options) {
    this.printed = ''
    this.child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], ...options })
    this.child.stdout.setEncoding('utf8').on('data', text => { this.printed += text; this.whole += text })
    this.child.stderr.setEncoding('utf8').on('data', text => { this.whole += text })
    this.whole = ''
    this.ended = once(this.child, 'close').then(([code, signal]) => { this.end = code ?? signal })
  }

  /** Waits for the end; the exit code, or the name of the signal. */
  async finish () {
    const timer = setTimeout(() => { this.child.kill('SIGKILL') }, PROGRAM_MS_MAX)
    await this.ended
    clearTimeout(timer)
    return this.end
  }

  async stop () {
    this.child.kill('SIGKILL')
    await this.ended
  }
}

/** Sends a request over HTTP/1.1, under TLS where `secure` says so; resolves to the status, or to undefined where no connection is had. */
async function ask (port, secure) {
  const socket = secure
    ? tls.connect({ port, host: '127.0.0.1', servername: 'localhost', rejectUnauthorized: false, ALPNProtocols: ['http/1.1', 'h2'] })
    : net.connect({ port, host: '127.0.0.1' })
  socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')))
  try {
    await once(socket, secure ? 'secureConnect' : 'connect')
    // The server's preface is the answer of one that speaks HTTP/2 alone.
    if (socket.alpnProtocol === 'h2') return 200
    socket.write('GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n')
    const [head] = await once(socket, 'data')
    return Number(String(head).split(' ')[1])
  } catch {
    return undefined
  } finally {
    socket.destroy()
  }
}

const portOf = code => Number(code.match(/(?:listen\(|port:\s*|--listen\s+\S*:|localhost:|127\.0\.0\.1:)(\d+)/)?.[1])

/** Runs blocks one after another, in `folder`, with `environment`. */
export class Runner {
  constructor (folder, environment) {
    this.folder = folder
    this.options = { cwd: folder, env: environment }
  }

  start (block, node) {
    if (block.language === 'sh') return new Running('sh', ['-e', '-c', block.code.replace(/\\\n/g, ' ')], { ...this.options, detached: true })
    if (block.language === 'rust') return new Running(block.program, [], this.options)
    const file = join(this.folder, 'program.mjs')
    writeFileSync(file, block.code)
    return new Running(node, [file], this.options)
  }

  /** Starts a server and waits until it answers; what is wrong with it, and the server. */
  async serve (block, node) {
    const server = this.start(block, node)
    const secure = /tls|Secure|cert/i.test(block.code)
    const port = portOf(block.code)
    if (Number.isNaN(port)) return { server, wrong: 'it names no port' }
    for (const late = Date.now() + PROGRAM_MS_MAX; Date.now() < late;) {
      if (server.end !== undefined) return { server, wrong: `it ended (${server.end}): ${server.whole}` }
      const status = await ask(port, secure)
      if (status !== undefined) return { server, wrong: status < 500 ? undefined : `it answered with ${status}: ${server.whole}` }
      await wait(POLL_MS)
    }
    return { server, wrong: `nothing answers at port ${port}: ${server.whole}` }
  }

  /** Runs a block to its end; what is wrong with it. */
  async run (block, node) {
    const program = this.start(block, node)
    const end = await program.finish()
    if (end !== 0) return `it ended with ${end}: ${program.whole}`
    if (block.output !== undefined && program.printed !== block.output) return `it printed\n${program.printed}and not\n${block.output}`
  }

  /** Tries the block beside the servers that it needs. */
  async attempt (block, before, node) {
    if (block.words.includes('server')) {
      const { server, wrong } = await this.serve(block, node)
      await stop(server)
      return wrong
    }
    if (!block.words.includes('client')) return this.run(block, node)
    const beside = before.findLast(one => one.path === block.path && one.words.includes('server'))
    if (beside === undefined) return 'its page has no server before it'
    const { server, wrong } = await this.serve(beside, node)
    const own = wrong ?? await this.run(block, node)
    await stop(server)
    return own
  }
}

/** Ends a program, and one that a shell has started. */
async function stop (server) {
  try { process.kill(-server.child.pid, 'SIGKILL') } catch {}
  await server.stop()
}
