// Packs the main package, and the addon for this platform.
// node make.mjs ADDON OUT: prints the paths of both tarballs, a line each.
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { homedir, tmpdir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { licences } from './licences.mjs'
import { npm } from './npm.mjs'

const require = createRequire(import.meta.url)
const folder = fileURLToPath(new URL('..', import.meta.url))
const root = resolve(folder, '..')
const { host, packageOf, PLATFORMS } = require('../dist/channel/platforms.js')

/** Where the source is, as npm compares it with the source of a build; known to the workflow that publishes. */
function repository () {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: path } = process.env
  return server === undefined || path === undefined ? {} : { repository: { type: 'git', url: `git+${server}/${path}.git` } }
}

/** The fields that both packages share. */
function described () {
  const { name, version, description, license, type, engines, main, types, exports, files, peerDependencies, peerDependenciesMeta } = require('../package.json')
  return { all: { version, license, type, ...repository(), engines }, own: { name, description, main, types, exports, peerDependencies, peerDependenciesMeta }, files }
}

/** Compiled files whose source is gone, which the compiler leaves where they are. */
function stale () {
  const compiled = readdirSync(join(folder, 'dist'), { recursive: true }).filter(file => /\.(js|d\.ts)$/.test(file))
  return compiled.filter(file => !existsSync(join(folder, 'src', file.replace(/\.(js|d\.ts)$/, '.ts'))) && !existsSync(join(folder, 'src', file)))
}

const write = (to, file, text) => writeFileSync(join(to, file), text)
const licence = to => { for (const file of ['LICENSE-MIT', 'LICENSE-APACHE']) cpSync(join(root, file), join(to, file)) }

/** Links to files that the package does not have become their text; its figures are left out. */
const unlinked = text => text.replaceAll(/!\[[^\]]*\]\(figures\/[^)]*\)\n\n/g, '').replaceAll(/\[([^\]]+)\]\((?!https?:|#|(?:docs\/)?node-|LICENSE)[^)]*\)/g, '$1')

/** The README, without its last paragraph, which is for contributors, and the guide's pages that it links. */
function pages (to) {
  const readme = readFileSync(join(folder, 'README.md'), 'utf8').split('\nThe package is not published yet')[0]
  write(to, 'README.md', unlinked(readme.replaceAll('../docs/guide/', 'docs/')))
  mkdirSync(join(to, 'docs'))
  for (const page of readdirSync(join(root, 'docs/guide')).filter(name => name.startsWith('node-'))) {
    write(to, `docs/${page}`, unlinked(readFileSync(join(root, 'docs/guide', page), 'utf8')))
  }
}

/** The JavaScript. It names every platform's package, and npm installs the one that fits. */
function stageMain (to) {
  const { all, own, files } = described()
  const left = stale()
  if (left.length > 0) throw new Error(`node/dist has files without a source, remove them: ${left.join(', ')}`)
  for (const file of files) cpSync(join(folder, file), join(to, file), { recursive: true })
  const optionalDependencies = Object.fromEntries(PLATFORMS.map(({ name }) => [packageOf(name), all.version]))
  write(to, 'package.json', `${JSON.stringify({ ...own, ...all, optionalDependencies }, null, 2)}\n`)
  pages(to)
  licence(to)
}

function stageAddon (to, addon) {
  const here = host()
  const platform = PLATFORMS.find(({ name }) => name === here)
  if (platform === undefined) throw new Error(`${here} is not in the table of platforms (node/src/channel/platforms.ts)`)
  const { all } = described()
  const { os, cpu, libc } = platform
  const text = {
    name: packageOf(here),
    description: `The addon of trunkline for ${here}`,
    main: './trunkline.node',
    ...all,
    os: [os],
    cpu: [cpu],
    ...(libc === undefined ? {} : { libc: [libc] })
  }
  cpSync(addon, join(to, 'trunkline.node'))
  write(to, 'package.json', `${JSON.stringify(text, null, 2)}\n`)
  write(to, 'README.md', `# ${text.name}\n\n${text.description}. Install \`trunkline\` itself.\n`)
  write(to, 'LICENSES-THIRD-PARTY', licences(root))
  licence(to)
}

/**
 * Files and texts that must not be in a package: source maps, and paths of the machine that built
 * it.
 */
export function inspect (staged, paths = [root, homedir()]) {
  const files = readdirSync(staged, { recursive: true, withFileTypes: true }).filter(entry => entry.isFile())
  for (const { parentPath, path, name } of files) {
    const file = join(parentPath ?? path, name)
    const text = readFileSync(file, 'latin1')
    if (name.endsWith('.map') || text.includes('sourceMappingURL')) throw new Error(`${file} is or names a source map`)
    const found = paths.find(path => text.includes(`${path}${sep}`))
    if (found !== undefined) throw new Error(`${file} contains the path ${found} of this machine`)
  }
}

/** The newest version of glibc that the addon asks for. */
function glibcOf (addon) {
  const asked = readFileSync(addon, 'latin1').matchAll(/GLIBC_(\d+)\.(\d+)/g)
  const [newest] = [...asked].map(([, major, minor]) => [Number(major), Number(minor)]).sort((a, b) => b[0] - a[0] || b[1] - a[1])
  return newest?.join('.') ?? null
}

/** Stages a package, looks at it with `look`, and packs it into `out`. */
export function pack (out, stage, look = inspect) {
  const staged = mkdtempSync(join(tmpdir(), 'trunkline-pack-'))
  try {
    stage(staged)
    look(staged)
    mkdirSync(out, { recursive: true })
    const printed = npm(['pack', '--json', '--pack-destination', resolve(out)], { cwd: staged, encoding: 'utf8' })
    const [{ filename, size, unpackedSize }] = JSON.parse(printed)
    return { tarball: join(resolve(out), filename), size, unpackedSize }
  } finally {
    rmSync(staged, { recursive: true })
  }
}

export const packMain = out => pack(out, stageMain)
export const packAddon = (out, addon, look) => pack(out, staged => { stageAddon(staged, addon) }, look)

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [addon, out] = process.argv.slice(2)
  const [main, own] = [packMain(out), packAddon(out, addon)]
  for (const { tarball, size, unpackedSize } of [main, own]) {
    console.error(`${tarball}: ${(size / 1024).toFixed(0)} KiB, ${(unpackedSize / 1024).toFixed(0)} KiB unpacked`)
  }
  const glibc = glibcOf(addon)
  if (glibc !== null) console.error(`the addon needs glibc ${glibc} or newer`)
  console.log(`${main.tarball}\n${own.tarball}`)
}
