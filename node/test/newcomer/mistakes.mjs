// Typical mistakes, what they print, and the file that says what they have to print.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const { host } = createRequire(import.meta.url)('../../dist/channel/platforms.js')
const GOLDEN = join(here, 'mistakes.golden.txt')
const MISTAKE_MS_MAX = 120_000

/** Without what differs between two runs and machines: ports, processes, the platform; and without the list of options, to which an option more
 * is no change of a mistake's message. */
function steady (text) {
  return text
    .replaceAll(/\b(127\.0\.0\.1|localhost|0\.0\.0\.0|\[?::1?\]?):\d+/g, '$1:PORT')
    .replaceAll(/\bit has \w+(, \w+)+/g, 'it has OPTIONS')
    .replaceAll(/\bport: \d+/g, 'port: PORT')
    .replaceAll(/\(platform \w+, arch \w+(, libc \w+)?\)/g, '(PLATFORM)')
    .replaceAll(new RegExp(`(for |trunkline/)${host()}\\b`, 'g'), '$1PLATFORM')
}

/** Runs every mistake on a line of Node.js; the text of all. */
function printed (place, node, environment) {
  const files = readdirSync(join(here, 'mistakes')).filter(name => /^\d/.test(name)).sort()
  return files.map(name => {
    const { stdout, stderr, status } = spawnSync(node, [join('mistakes', name)], { cwd: place, env: { ...environment, NODE_EXTRA_CA_CERTS: '', NODE_NO_WARNINGS: '' }, encoding: 'utf8', timeout: MISTAKE_MS_MAX })
    return `== ${name}\n${steady(stdout)}${status === 0 ? '' : `ended with ${status}: ${stderr}`}`
  }).join('\n')
}

/** The first line that differs from the golden file; with `accept` it is written. */
export function compare (place, node, environment, accept) {
  const text = printed(place, node, environment)
  if (accept) writeFileSync(GOLDEN, text)
  const [are, have] = [text.split('\n'), readFileSync(GOLDEN, 'utf8').split('\n')]
  const at = are.findIndex((line, number) => line !== have[number])
  if (at === -1 && are.length === have.length) return []
  return [`line ${at + 1} of mistakes.golden.txt:\n- ${have[at]}\n+ ${are[at]}`]
}
