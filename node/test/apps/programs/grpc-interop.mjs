// gRPC's interop suite between grpc-js and grpc-go (`interop/peers/grpc-go`), in both directions. Left out are the cases that
// `interop/tests/foreign/grpc_suite.rs` names, for the reasons there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, cases as suite } from './calls.mjs'

export { start } from './service.mjs'

const PROGRAM = process.env.TRUNKLINE_GRPC_GO
/** Cases of grpc-go's client alone. */
const OF_GO = ['pick_first_unary', 'rpc_soak', 'channel_soak']
/** Those that are tried with compressed messages too. */
const PACKED = ['large_unary', 'client_streaming', 'server_streaming', 'ping_pong', 'custom_metadata']

/** Runs a case of grpc-go's client. */
async function goCalls (...given) {
  const child = spawn(PROGRAM, ['call', ...given], { stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  child.stdout.on('data', text => { printed += text })
  child.stderr.on('data', text => { printed += text })
  const [code] = await once(child, 'close')
  return code === 0 && /^passed$/m.test(printed) ? 'passed' : printed
}

/** Ports of grpc-go's server, which ends with this process. */
async function goServer (chain, key) {
  const child = spawn(PROGRAM, ['serve', '-clear=127.0.0.1:0', '-tls=127.0.0.1:0', `-cert=${chain}`, `-key=${key}`], { stdio: ['ignore', 'pipe', 'inherit'] })
  process.on('exit', () => { child.kill('SIGKILL') })
  let printed = ''
  const ports = {}
  while (ports.clear === undefined || ports.tls === undefined) {
    const [text] = await once(child.stdout, 'data')
    printed += text
    for (const [, name, port] of printed.matchAll(/^(clear|tls) \S+:(\d+)$/gm)) ports[name] = Number(port)
  }
  child.stdout.resume()
  return ports
}

export function cases ({ ports, tls, scratch }) {
  const [chain, key] = [join(scratch, 'chain.pem'), join(scratch, 'key.pem')]
  writeFileSync(chain, tls.cert)
  writeFileSync(key, tls.key)
  let server
  const all = {}
  for (const way of ['clear', 'tls']) {
    const [trust, cert] = way === 'tls' ? [[`-root=${chain}`], tls.cert] : [[], undefined]
    const add = (name, flags, packed) => {
      all[`grpc-go calls, ${way}: ${name}${packed}`] = () => goCalls(`-server=127.0.0.1:${ports[way]}`, ...trust, ...flags, name)
      if (suite[name] === undefined) return
      all[`grpc-go answers, ${way}: ${name}${packed}`] = async () => call(name, (await (server ??= goServer(chain, key)))[way], { cert, isPacked: packed !== '' })
    }
    for (const name of [...Object.keys(suite), ...OF_GO]) add(name, [], '')
    for (const name of PACKED) add(name, ['-gzip'], ', compressed')
  }
  return all
}
