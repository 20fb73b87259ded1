// Clients that are not Node.js's: curl, and the HTTP/3 stacks that the project's other tests build and
// keep under target/tools. Where one is missing, its tests say so.
import { execFile, execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { certFile } from '../certificates/certificate.mjs'

const root = new URL('../../../../', import.meta.url)
const kept = path => fileURLToPath(new URL(`target/tools/${path}`, root))

/** Runs a program to its end; what it said, or why it failed. */
export function printed (program, args, limit = 120_000) {
  return new Promise((resolve, reject) => {
    execFile(program, args, { timeout: limit, maxBuffer: 64 << 20, encoding: 'buffer' }, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${program} ${args.join(' ')}: ${error.message}\n${stdout}\n${stderr}`))
    })
  })
}

function curlHas (feature) {
  try {
    return execFileSync('curl', ['--version'], { encoding: 'utf8' }).includes(feature)
  } catch {
    return false
  }
}

/** `why`: it is missing. */
export const curl = { why: curlHas('HTTP2') ? undefined : 'curl with HTTP/2 is not installed' }

const python = process.env.TRUNKLINE_PYTHON ?? kept('python/bin/python')
const quicGo = process.env.TRUNKLINE_QUIC_GO ?? kept('quic-go/quic-go')
const fetch = fileURLToPath(new URL('interop/peers/python/fetch.py', root))
const absent = program => existsSync(program) ? undefined : `${program} is not built: the tests of interop do it`

/** By name: `run(port, cases)` gives what the client prints of each case, by the case's name. */
export const stacks = {
  aioquic: {
    why: absent(python),
    // All in one process: its modules take most of the time of a case.
    run: async (port, names) => {
      const output = String(await printed(python, ['-B', '-u', fetch, `--root=${certFile}`, `--port=${port}`, '--echo-mebibytes=2', ...names]))
      return Object.fromEntries(output.split(/^== /m).slice(1).map(part => /^(.*)\n([^]*)$/.exec(part).slice(1)))
    }
  },
  'quic-go': {
    why: absent(quicGo),
    run: async (port, names) => {
      const print = async name => [name, String(await printed(quicGo, ['fetch', `-root=${certFile}`, `-url=https://localhost:${port}`, name]))]
      return Object.fromEntries(await Promise.all(names.map(print)))
    }
  }
}
