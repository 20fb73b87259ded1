// The scripted end of HTTP/3 connections (engine/tests/ends/quic_peer.rs): a process that plays the ends of
// docs/ends.md with frames of QUIC that no library sends.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { certFile } from '../certificates/certificate.mjs'
import { example } from './servers.mjs'

/** How long a line of the process may take. */
const LINE_MS_MAX = 60_000

/** A process of scripted ends; it ends with its test. */
class QuicPeer {
  /** Its cases: the row and the place in the table, and the part of the message's body that is sent. */
  cases = []
  /** A server's certificate. */
  root
  #child
  #waiting = new Map()
  #came = new Map()
  #runs = 0

  constructor (args) {
    this.#child = spawn(example('quic_peer'), args, { stdio: ['pipe', 'pipe', 'inherit'] })
    this.#child.stdin.on('error', () => {})
  }

  async ready () {
    const lines = createInterface(this.#child.stdout)
    const isReady = new Promise((resolve, reject) => {
      lines.on('close', () => { reject(new Error('the scripted end of HTTP/3 connections has ended')) })
      lines.on('line', line => {
        const [word, , row, place, body] = line.split('\t')
        if (word === 'case') this.cases.push({ number: this.cases.length, row, place, body })
        else if (line.startsWith('root ')) this.root = pem(line.slice(5))
        else if (line === 'ready') resolve()
        else this.#take(line)
      })
    })
    isReady.catch(() => {})
    await isReady
    return this
  }

  #take (line) {
    const [word, run, value] = line.split(' ')
    const key = `${word} ${run}`
    const waiting = this.#waiting.get(key)
    this.#waiting.delete(key)
    if (waiting === undefined) this.#came.set(key, value)
    else waiting(value)
  }

  /** The value of a line that this run prints. */
  printed (word, run) {
    const key = `${word} ${run}`
    if (this.#came.has(key)) {
      const value = this.#came.get(key)
      this.#came.delete(key)
      return Promise.resolve(value)
    }
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => { reject(new Error(`no "${key}"`)) }, LINE_MS_MAX)
      this.#waiting.set(key, value => {
        clearTimeout(late)
        resolve(value)
      })
    })
  }

  #order (line) { this.#child.stdin.write(`${line}\n`) }
  /** Begins a case; the number of its run. */
  play (number) {
    const run = ++this.#runs
    this.#order(`play ${run} ${number}`)
    return run
  }
  /** A client asks for the path of a probe. */
  probe () {
    const run = ++this.#runs
    this.#order(`probe ${run}`)
    return run
  }
  end (run) { this.#order(`end ${run}`) }

  /** Ends the process by SIGKILL. */
  async die () {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill('SIGKILL')
    await once(this.#child, 'exit')
  }
}

const pem = hex => `-----BEGIN CERTIFICATE-----\n${Buffer.from(hex, 'hex').toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`

async function started (t, args) {
  const peer = new QuicPeer(args)
  t.after(() => peer.die())
  return peer.ready()
}
/** A client of a server on this port. */
export const quicClient = (t, port) => started(t, ['client', String(port), certFile])
export const quicServer = t => started(t, ['server'])
/** A server that stops uploads and answers none. */
export const quicUploads = t => started(t, ['uploads'])
