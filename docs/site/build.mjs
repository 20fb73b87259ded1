// Builds the site into target/site: the guide by mdBook, the package's types by TypeDoc, the crates' documentation from target/doc; then checks its links,
// and where there is Chromium its widths and its search.
// node build.mjs MDBOOK CLI DOC OPTIONS
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { faults } from './browser.mjs'
import { broken, withoutSection } from './links.mjs'
import { optionsPage } from './options.mjs'
import { stage } from './stage.mjs'

const root = fileURLToPath(new URL('../../', import.meta.url))
const [mdbook, cli, doc, options] = process.argv.slice(2)
const site = join(root, 'target', 'site')
const staged = join(root, 'target', 'site-source')

/** The help of the command line and of each of its commands. */
function helpPage () {
  const help = (...command) => execFileSync(cli, [...command, '--help'], { encoding: 'utf8' }).trimEnd()
  const commands = ['serve', 'get', 'bench', 'completions', 'manual']
  const parts = commands.map(name => `## ${name}\n\n\`\`\`text\n${help(name)}\n\`\`\`\n`)
  return `# Options of the command line\n\n\`\`\`text\n${help()}\n\`\`\`\n\n${parts.join('\n')}`
}

rmSync(site, { recursive: true, force: true })
mkdirSync(site, { recursive: true })
stage(root, staged, { 'Options of Node.js': optionsPage(root), 'Options and errors of Rust': readFileSync(options, 'utf8'), 'Options of the command line': helpPage() })
execFileSync(mdbook, ['build', '--dest-dir', join(site, 'book'), staged], { stdio: ['ignore', 'ignore', 'inherit'] })
const typedoc = join(root, 'docs/site/node_modules/typedoc/bin/typedoc')
execFileSync(process.execPath, [
  typedoc, '--out', join(site, 'book/api/node'), '--tsconfig', join(root, 'docs/site/tsconfig.json'), '--entryPoints', join(root, 'node/src/index.ts'),
  '--name', 'trunkline', '--readme', join(root, 'node/README.md'), '--disableSources', '--excludePrivate', '--excludeInternal', '--skipErrorChecking', '--logLevel', 'Error'
], { stdio: 'inherit', cwd: join(root, 'docs/site') })
cpSync(doc, join(site, 'book/api/rust'), { recursive: true })

const book = join(site, 'book')
const failed = [...broken(book, path => !path.startsWith('api/') && !['print.html', '404.html'].includes(path)), ...withoutSection(root, book)]
if (failed.length > 0) {
  console.error(`${failed.length} dead links:\n${failed.join('\n')}`)
  process.exit(1)
}
const seen = await faults(join(site, 'book'), join(site, 'screenshots'))
if (seen === undefined) console.error('going on without a look in a browser: there is no Chromium, or Node.js is older than 22')
else if (seen.length > 0) {
  console.error(seen.join('\n'))
  process.exit(1)
}
console.log(`${join(site, 'book/index.html')}`)
