// The first steps of a stranger: in an empty folder with the packed packages alone, every program of the documents runs on each line of
// Node.js, compiles as strict TypeScript, and typical mistakes print a message that says what to do.
// node newcomer.mjs ADDON [--cli PROGRAM] [--only WORD] [--accept]
//   --cli PROGRAM  the command line, for blocks of the shell
//   --only WORD    blocks of pages whose path has this word
//   --part NAME    types, programs, rust, shell or mistakes alone
//   --accept       write the golden file of the mistakes anew
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { packAddon, packMain } from '../../pack/make.mjs'
import { installOffline } from '../../pack/npm.mjs'
import { lines } from '../support/lines/lines.mjs'
import { blocks, isProgram, root } from './blocks.mjs'
import { compare } from './mistakes.mjs'
import { Runner } from './programs.mjs'
import { build, prepare } from './rust.mjs'
import { compile } from './types.mjs'

const here = dirname(fileURLToPath(import.meta.url))
const { positionals, values } = parseArgs({
  allowPositionals: true, options: { cli: { type: 'string' }, only: { type: 'string' }, part: { type: 'string' }, accept: { type: 'boolean' }, inside: { type: 'boolean' } }
})
const [addon] = positionals
/** Packages that the documents tell to install beside ours. */
const BESIDE = ['express', 'fastify', 'hono', 'koa', 'openai', 'undici', 'ws']

/**
 * Starts this file again in namespaces of its own: the ports of the documents are free there, and `example.org` is this machine. Without
 * namespaces the blocks that name it are left out.
 */
function enter () {
  const hosts = join(mkdtempSync(join(tmpdir(), 'trunkline-newcomer-hosts-')), 'hosts')
  writeFileSync(hosts, '127.0.0.1 localhost example.org\n::1 localhost\n')
  const user = process.getuid() === 0 ? [] : ['-r']
  const script = 'ip link set lo up && mount --bind "$HOSTS" /etc/hosts && exec "$@"'
  const args = [...user, '-mn', 'sh', '-c', script, 'sh', process.execPath, fileURLToPath(import.meta.url), ...process.argv.slice(2), '--inside']
  const possible = spawnSync('unshare', [...user, '-mn', 'sh', '-c', 'ip link set lo up'], { stdio: 'ignore' })
  if (possible.status !== 0) return false
  const child = spawn('unshare', args, { stdio: 'inherit', env: { ...process.env, HOSTS: hosts } })
  child.on('exit', code => { process.exitCode = code ?? 1; rmSync(dirname(hosts), { recursive: true }) })
  return true
}

function install (place, ...tarballs) {
  writeFileSync(join(place, 'package.json'), '{ "name": "newcomer", "private": true, "type": "module" }\n')
  installOffline(place, ...tarballs)
  for (const name of BESIDE) {
    const from = join(root, 'node/test/node_modules', name === 'undici' ? 'undici7' : name)
    if (existsSync(from)) symlinkSync(from, join(place, 'node_modules', name))
  }
}

/** Makes the files that the documents take for granted: a certificate for development, which for rustls must be no authority's, and a folder of files. */
function furnish (place) {
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,DNS:example.org,IP:127.0.0.1', '-addext', 'basicConstraints=critical,CA:FALSE']
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30',
    '-keyout', 'key.pem', '-out', 'cert.pem', ...subject], { cwd: place, stdio: 'ignore' })
  mkdirSync(join(place, 'public'))
  writeFileSync(join(place, 'public', 'index.html'), '<!doctype html><title>hello</title><p>hello\n')
  writeFileSync(join(place, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
}

const report = (failed, text) => { console.log(`${failed.length === 0 ? 'ok  ' : 'FAIL'}  ${text}`); for (const one of failed) console.log(`      ${one.replaceAll('\n', '\n      ')}`) }

/** Compiles beside a copy of the installed packages, so that nothing of it is left for the programs that run. */
function compileAll (place, programs) {
  const folder = mkdtempSync(join(place, 'types-'))
  mkdirSync(join(folder, 'node_modules'))
  for (const name of readdirSync(join(place, 'node_modules'))) symlinkSync(join(place, 'node_modules', name), join(folder, 'node_modules', name))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const typed = programs.filter(({ words }) => !words.includes('untyped'))
  const wrong = compile(folder, typed, join(root, 'node/test/node_modules/types-node20'))
  rmSync(folder, { recursive: true })
  return wrong
}

/** The blocks that are to be tried. */
const chosen = () => blocks().filter(({ path }) => values.only === undefined || path.includes(values.only))
const wanted = part => values.part === undefined || values.part === part
/** The programs in Rust among these blocks. */
const inRust = blocks => wanted('rust') ? blocks.filter(block => isProgram(block) && block.language === 'rust') : []

async function inside (place, isOwnNetwork) {
  const out = join(place, 'packed')
  // An addon for tests has paths of this machine in it; one that is published has none.
  install(place, packMain(out).tarball, packAddon(out, addon, () => {}).tarball)
  furnish(place)
  const all = chosen()
  const programs = all.filter(isProgram).filter(({ language }) => language !== 'rust')
  const shell = all.filter(({ language, words }) => language === 'sh' && words.some(word => ['run', 'server', 'client'].includes(word)))
  const away = block => !isOwnNetwork && block.code.includes('example.org')
  const failures = []
  const note = (failed, text) => { report(failed, text); failures.push(...failed) }

  if (wanted('types')) note(compileAll(place, programs), `${programs.length} programs as strict TypeScript`)

  const rust = inRust(all)
  const wrong = rust.length > 0 ? build(rust) : []
  if (rust.length > 0) note(wrong, `${rust.length} programs of Rust compile`)

  const cli = values.cli === undefined ? [] : [dirname(values.cli)]
  const path = [...cli, dirname(process.execPath), process.env.PATH].join(':')
  const environment = { PATH: path, HOME: place, NODE_EXTRA_CA_CERTS: join(place, 'cert.pem'), SSL_CERT_FILE: join(place, 'cert.pem'), NODE_NO_WARNINGS: '1' }
  const runner = new Runner(place, environment)
  const origin = isOwnNetwork ? spawn(process.execPath, [join(here, 'origin.mjs')], { cwd: place, env: environment, stdio: ['ignore', 'pipe', 'inherit'] }) : undefined
  if (origin !== undefined) await new Promise(resolve => origin.stdout.once('data', resolve))
  // Files that programs of their pages read.
  const made = []
  for (const block of shell.filter(({ words }) => words.includes('run'))) {
    const wrong = await runner.run(block, process.execPath)
    if (wrong !== undefined) made.push(`${block.where}: ${wrong}`)
  }
  if (made.length > 0) note(made, 'blocks of the shell that make files')
  if (rust.length > 0 && wrong.length === 0) {
    const failed = []
    for (const block of rust.filter(block => !away(block))) {
      const wrong = await runner.attempt(block, rust)
      if (wrong !== undefined) failed.push(`${block.where}: ${wrong}`)
    }
    note(failed, 'they run')
  }
  // Promised lines of Node.js, the one that runs this file first.
  const on = [[process.version, process.execPath], ...Object.entries(lines)]
  for (const [line, node] of wanted('programs') ? on : []) {
    const failed = []
    const tried = programs.filter(block => !away(block))
    for (const block of tried) {
      const wrong = await runner.attempt(block, programs, node)
      if (wrong !== undefined) failed.push(`${block.where}: ${wrong}`)
    }
    note(failed, `${tried.length} programs on ${line}${tried.length < programs.length ? ` (${programs.length - tried.length} name example.org and were left out)` : ''}`)
  }
  if (cli.length > 0 && wanted('shell')) {
    const failed = []
    for (const block of shell) {
      const wrong = await runner.attempt(block, all, process.execPath)
      if (wrong !== undefined) failed.push(`${block.where}: ${wrong}`)
    }
    note(failed, `${shell.length} blocks of the shell`)
  }
  origin?.kill()
  if (values.only === undefined && wanted('mistakes')) {
    for (const [line, node] of on) note(await compare(place, node, environment, values.accept && node === process.execPath), `mistakes on ${line}`)
  }
  const rest = all.filter(({ language, words }) => ['js', 'ts', 'rust'].includes(language) && words.includes('fragment'))
  console.log(`      ${rest.length} blocks are parts of programs`)
  return failures.length === 0
}

if (!values.inside && inRust(chosen()).length > 0) prepare(inRust(chosen()))
if (values.inside || !enter()) {
  const place = mkdtempSync(join(tmpdir(), 'trunkline-newcomer-'))
  try {
    cpSync(join(here, 'mistakes'), join(place, 'mistakes'), { recursive: true })
    if (!await inside(place, values.inside === true)) process.exitCode = 1
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}
