// gRPC in Node.js: grpc-js on node:http2, on Bun's and on this package, and beside them connect-node, grpc-go, and tonic on hyper and on
// this engine. Client and server are processes of their own, so that the CPU of each is known: a client is measured against
// the server on the stack of old, a server by the client on it. Combinations by turns, in another order in every round; medians of
// all rounds. TRUNKLINE_GRPC_GO is the program of interop/peers/grpc-go, TRUNKLINE_GRPC_RUST that of bench/peers/calls; without
// one its rows are left out, and on other systems than Linux.
// node grpc.mjs [--quick] [--rounds 5] [--docs]
import { execFileSync, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { fileURLToPath } from 'node:url'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false }, rounds: { type: 'string' }, docs: { type: 'boolean', default: false } } })
const rounds = Number(values.rounds ?? (values.quick ? 3 : 5))
const PEER = fileURLToPath(new URL('grpc_peer.mjs', import.meta.url))
const PAGE = fileURLToPath(new URL('../../../docs/measured/grpc.md', import.meta.url))
/** Text behind this mark is written by hand. */
const MARK = '<!-- by hand below -->'
const SCENARIOS = {
  'unary, 64 at once, 1 channel': { kind: 'echo', atOnce: 64, channels: 1, count: values.quick ? 4000 : 10_000 },
  'unary, 64 at once, 8 channels': { kind: 'echo', atOnce: 64, channels: 8, count: values.quick ? 4000 : 10_000 },
  'stream of 1,000 messages': { kind: 'stream', atOnce: 4, channels: 1, count: values.quick ? 20 : 60 }
}
const OWN = 'node:http2'
const [TONIC, TONIC_ON_OURS] = ['tonic on hyper', 'tonic on trunkline']
/** The stack of the client and that of the server. */
const COMBINATIONS = [[OWN, OWN], ['trunkline', OWN], [OWN, 'trunkline'], [OWN, 'trunkline inline'], ['trunkline', 'trunkline'], ['Bun', OWN], [OWN, 'Bun'], ['connect-node', 'connect-node']]
const BUN = fileURLToPath(new URL('../node_modules/bun/bin/bun', import.meta.url))
const [GO, RUST] = process.platform === 'linux' ? [process.env.TRUNKLINE_GRPC_GO, process.env.TRUNKLINE_GRPC_RUST] : []
if (GO !== undefined) COMBINATIONS.push(['grpc-go', 'grpc-go'])
if (RUST !== undefined) COMBINATIONS.push([TONIC, TONIC], [TONIC_ON_OURS, TONIC], [TONIC, TONIC_ON_OURS], [TONIC_ON_OURS, TONIC_ON_OURS])
/** Pairs that are compared: client and server of ours, those beside them, and which side. */
const GOALS = [
  [['trunkline', OWN], [OWN, OWN], 'client'], [[OWN, 'trunkline'], [OWN, OWN], 'server'], [[OWN, 'trunkline inline'], [OWN, OWN], 'server', 'server, inline'],
  ...(RUST === undefined ? [] : [[[TONIC_ON_OURS, TONIC], [TONIC, TONIC], 'client', 'tonic\'s client'], [[TONIC, TONIC_ON_OURS], [TONIC, TONIC], 'server', 'tonic\'s server']])
]

/** The engine on JavaScript's thread. */
const INLINE = { ...process.env, TRUNKLINE_ENGINE: 'inline' }

/** Starts both sides; `measure` gives the CPU of each per call. */
async function started (clientStack, serverStack) {
  const side = (role, stack) => fork(PEER, [role, stack === 'Bun' ? OWN : stack.split(' ')[0]], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    env: stack.endsWith('inline') ? INLINE : process.env,
    execPath: stack === 'Bun' ? BUN : process.execPath
  })
  const server = side('server', serverStack)
  const [{ port }] = await once(server, 'message')
  const client = side('client', clientStack)
  await once(client, 'message')
  const asked = async (child, message) => {
    const answer = once(child, 'message')
    child.send(message)
    return (await answer)[0]
  }
  return {
    async measure (scenario, count) {
      const before = await asked(server, {})
      const { failed, cpu, time } = await asked(client, { ...scenario, port, count })
      if (failed !== undefined) throw new Error(`${clientStack} at ${serverStack}: ${failed}`)
      const after = await asked(server, {})
      return { client: cpu / count, server: (after.cpu - before.cpu) / count, rate: count / time * 1e6 }
    },
    end () { client.kill('SIGKILL'); server.kill('SIGKILL') }
  }
}

/** Microseconds of user and kernel time of a process, by Linux: utime and stime of proc(5), in ticks. */
function cpuOf (pid, ticks) {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').replace(/^.*\) /, '').split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticks * 1e6
}

/** The commands of a foreign program's server and client, and what its server prints. */
const flagsOfGo = {
  program: GO,
  server: () => ['bench', 'serve'],
  client: ({ kind, atOnce, channels }, port) => ['bench', 'call', '-port', port, '-kind', kind, '-at-once', atOnce, '-channels', channels],
  portOf: line => line
}
const flagsOfRust = {
  program: RUST,
  server: stack => ['serve', stack === TONIC ? 'tonic' : 'trunkline', '127.0.0.1:0'],
  client: ({ kind, atOnce, channels }, port, stack) => ['rounds', stack === TONIC ? 'tonic' : 'trunkline', `http://127.0.0.1:${port}`, kind, atOnce, channels],
  portOf: line => line.split(':').at(-1)
}

/** Calls of compiled programs for each of JavaScript's: the system counts CPU in ticks of 10 ms. */
const COMPILED_FACTOR = 25

/** As `started`, of a program that is not JavaScript. */
async function startedForeign ({ program, server: serverFlags, client: clientFlags, portOf }, clientStack, serverStack) {
  const ticks = Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' }))
  const run = flags => {
    const child = spawn(program, flags.map(String), { stdio: ['pipe', 'pipe', 'inherit'] })
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
    return { child, line: async () => {
      const { value, done } = await lines.next()
      if (done) throw new Error(`${program} ${flags.join(' ')} has ended`)
      return value
    } }
  }
  const server = run(serverFlags(serverStack))
  const port = portOf(await server.line())
  const clients = new Map()
  return {
    async measure (scenario, count) {
      const flags = clientFlags(scenario, port, clientStack)
      const key = flags.join(' ')
      if (!clients.has(key)) clients.set(key, run(flags))
      const client = clients.get(key)
      const before = cpuOf(server.child.pid, ticks)
      const calls = count * COMPILED_FACTOR
      client.child.stdin.write(`${calls}\n`)
      const [cpu, time] = (await client.line()).split(' ').map(Number)
      return { client: cpu / calls, server: (cpuOf(server.child.pid, ticks) - before) / calls, rate: calls / time * 1e6 }
    },
    end () { for (const { child } of [server, ...clients.values()]) child.kill('SIGKILL') }
  }
}

function startedPair (clientStack, serverStack) {
  if (clientStack === 'grpc-go') return startedForeign(flagsOfGo, clientStack, serverStack)
  if (clientStack.startsWith('tonic')) return startedForeign(flagsOfRust, clientStack, serverStack)
  return started(clientStack, serverStack)
}

const found = new Map()
const load = loadavg()[0].toFixed(2)
for (let at = 0; at < rounds; at++) {
  const turn = COMBINATIONS.map((_, index) => COMBINATIONS[(index * (at % 2 === 0 ? 1 : COMBINATIONS.length - 1) + at) % COMBINATIONS.length])
  for (const [clientStack, serverStack] of turn) {
    const pair = await startedPair(clientStack, serverStack)
    for (const [name, scenario] of Object.entries(SCENARIOS)) {
      await pair.measure(scenario, Math.ceil(scenario.count / 2))
      const key = `${name}|${clientStack}|${serverStack}`
      found.set(key, [...found.get(key) ?? [], await pair.measure(scenario, scenario.count)])
    }
    pair.end()
  }
  process.stderr.write(`round ${at + 1} of ${rounds}\n`)
}

const sorted = all => all.toSorted === undefined ? [...all].sort((a, b) => a - b) : all.toSorted((a, b) => a - b)
const median = all => sorted(all)[Math.floor(all.length / 2)]
const rounded = number => number.toFixed(number < 20 ? 1 : 0)
const cell = all => `${rounded(median(all))} (${rounded(Math.min(...all))} to ${rounded(Math.max(...all))})`
const lines = []
const goals = []
for (const name of Object.keys(SCENARIOS)) {
  const of = (client, server, what) => found.get(`${name}|${client}|${server}`).map(one => one[what])
  for (const [client, server] of COMBINATIONS) lines.push(`| ${name} | ${client} | ${server} | ${cell(of(client, server, 'client'))} | ${cell(of(client, server, 'server'))} | ${cell(of(client, server, 'rate'))} |`)
  for (const [ours, theirs, side, label = side] of GOALS) {
    const ratio = median(of(...ours, side)) / median(of(...theirs, side))
    goals.push(`| ${name}, ${label} | ${ratio.toFixed(2)} | 0.60 | ${ratio <= 0.6 ? 'reached' : 'missed'} |`)
  }
}
const page = `# gRPC in Node.js, measured

grpc-js on node:http2, on that of Bun, and on this package (\`trunkline/register\`), and beside it connect-node (its gRPC protocol, on
node:http2)${GO === undefined ? '' : ', grpc-go'}${RUST === undefined ? '' : ', and tonic on hyper and on this engine'}, over
cleartext HTTP/2. Messages have 100 bytes, without protobuf but for connect-node, whose message is of protobuf. Client and server are
processes of their own. CPU is user and kernel time of all threads of one process, per call, in microseconds: median (smallest to
largest) of ${rounds} rounds by turns, each behind a warm-up.

- Processor: ${cpus()[0].model}, ${cpus().length} of them usable
- Memory: ${Math.round(totalmem() / 1024)} kB
- Kernel: ${type()} ${release()}
- Node.js: ${process.version}
- Date: ${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC
- Load average before: ${load}

| CPU of ours to that of node:http2, or hyper | ratio | goal | |
|---|---|---|---|
${goals.join('\n')}

A client's ratio is against the same server, a server's with the same client. "Inline" is the engine on JavaScript's thread
(\`TRUNKLINE_ENGINE=inline\`). tonic's programs have one thread each.

| scenario | client | server | client CPU | server CPU | calls/s |
|---|---|---|---|---|---|
${lines.join('\n')}
`
console.log(page)
if (values.docs) {
  const written = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  const at = written.indexOf(MARK)
  writeFileSync(PAGE, page + (at < 0 ? '' : `\n${written.slice(at)}`))
}
