// Runs one test file of web-platform-tests in a worker of its own, with Node.js's own fetch or with ours as the global one, and
// reports each subtest to its parent.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { performance } from 'node:perf_hooks'
import vm from 'node:vm'
import { parentPort, workerData } from 'node:worker_threads'
import { filled } from './server.mjs'

const { folder, file, scripts, href, ports, isOurs } = workerData

if (isOurs) {
  const { Agent, installGlobal } = await import('trunkline')
  installGlobal(new Agent({ connect: { rejectUnauthorized: false } }))
} else void new Response()

const url = new URL(href)
Object.defineProperty(globalThis, 'self', { value: globalThis, configurable: true, writable: true })
Object.defineProperty(globalThis, 'location', { value: url, configurable: true, writable: true })
globalThis.GLOBAL = { isWindow: () => false, isWorker: () => true, isShadowRealm: () => false }
globalThis.Window = Object.getPrototypeOf(globalThis).constructor
globalThis.performance ??= performance
// By this Node.js's own fetch knows what relative URLs are relative to.
Object.defineProperty(globalThis, Symbol.for('undici.globalOrigin.1'), { value: url, writable: true, configurable: true, enumerable: false })

// Rejections without a handler are what some tests are about.
process.on('unhandledRejection', () => {})
process.on('uncaughtException', error => { parentPort.postMessage({ kind: 'error', text: String(error?.stack ?? error) }) })

const run = path => {
  const text = readFileSync(path, 'utf8')
  vm.runInThisContext(path.includes('.sub.') ? filled(text, ports) : text, { filename: path })
}

run(join(folder, 'resources', 'testharness.js'))
add_result_callback(({ name, status, message }) => { parentPort.postMessage({ kind: 'result', name, isPassed: status === 0, message }) })
add_completion_callback((_, { status, message }) => { parentPort.postMessage({ kind: 'end', status, message }) })
const named = script => script.startsWith('/') ? join(folder, script) : join(folder, dirname(file), script)
for (const script of scripts) run(named(script))
run(join(folder, file))
