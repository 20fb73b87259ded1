// The programs of README, node/README.md and docs/guide, without running them: `make newcomer` does that.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { blocks, blocksOf, isProgram, pages, root } from '../newcomer/blocks.mjs'
import { compile } from '../newcomer/types.mjs'

test('every program of the documents compiles as strict TypeScript', t => {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-documents-'))
  t.after(() => { rmSync(folder, { recursive: true }) })
  mkdirSync(join(folder, 'node_modules'))
  const beside = ['fastify', 'hono', 'openai', 'undici']
  for (const name of beside) symlinkSync(join(root, 'node/test/node_modules', name === 'undici' ? 'undici7' : name), join(folder, 'node_modules', name))
  symlinkSync(join(root, 'node'), join(folder, 'node_modules', 'trunkline'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }\n')
  const programs = blocks().filter(block => isProgram(block) && block.language !== 'rust' && !block.words.includes('untyped'))
  assert.ok(programs.length > 30, `${programs.length} programs`)
  assert.deepEqual(compile(folder, programs, join(root, 'node/test/node_modules/types-node20'), { skipLibCheck: true }), [])
})

test('a block of a diff is the program that it leads to, and words without a meaning are refused', () => {
  const [block] = blocksOf('page', '```diff js server\n-old()\n+fresh()\n same()\n```\n```text output\nyes\n```\n')
  assert.deepEqual([block.language, block.code, block.output], ['js', 'fresh()\nsame()\n', 'yes\n'])
  assert.throws(() => blocksOf('page', '```js sevrer\n```\n'), /page:1: "sevrer" is neither a language/)
  assert.throws(() => blocksOf('page', '```js\nopen()\n'), /page:1: the block has no end/)
})

test('the summary of the guide names each of its pages, and each page exists', () => {
  const summary = readFileSync(join(root, 'docs/guide/SUMMARY.md'), 'utf8')
  const named = [...summary.matchAll(/\]\(([^)]+\.md)\)/g)].map(([, path]) => path)
  const guide = pages().filter(path => path.startsWith('docs/guide/')).map(path => path.slice('docs/guide/'.length)).filter(path => path !== 'SUMMARY.md')
  assert.deepEqual(guide.filter(path => !named.includes(path)), [])
  const all = readdirSync(join(root, 'docs'), { recursive: true })
  assert.deepEqual(named.filter(path => !all.includes(join('guide', path))), [])
})
