// The declarations of this package with every line of undici and of @types/node, and the options that
// consumers compile with: dispatchers of either package are the other's, and nothing of ours is an error.
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import test, { after } from 'node:test'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const require = createRequire(join(here, '../..', 'package.json'))
const ts = require('typescript')
const ours = realpathSync(join(here, '../..'))
const roots = mkdtempSync(join(tmpdir(), 'trunkline-types-'))
after(() => { rmSync(roots, { recursive: true }) })

const programs = readdirSync(join(here, 'types')).filter(file => file.endsWith('.mts')).map(file => join(here, 'types', file))
/** Each value stands beside each of another option at least once. */
const settings = [
  { module: 'nodenext', lib: 'es2020', exactOptionalPropertyTypes: false, skipLibCheck: true },
  { module: 'nodenext', lib: 'esnext', exactOptionalPropertyTypes: true, skipLibCheck: false },
  { module: 'bundler', lib: 'es2022', exactOptionalPropertyTypes: false, skipLibCheck: false },
  { module: 'bundler', lib: 'es2020', exactOptionalPropertyTypes: true, skipLibCheck: true }
]
const files = new Map()

function compile (line, { module, lib, ...rest }) {
  const typeRoots = join(roots, line)
  mkdirSync(typeRoots, { recursive: true })
  try { symlinkSync(join(here, '..', 'node_modules', line), join(typeRoots, 'node'), 'dir') } catch {}
  const options = {
    ...rest,
    strict: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    lib: [`lib.${lib}.d.ts`],
    module: module === 'bundler' ? ts.ModuleKind.ESNext : ts.ModuleKind.NodeNext,
    moduleResolution: module === 'bundler' ? ts.ModuleResolutionKind.Bundler : ts.ModuleResolutionKind.NodeNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    typeRoots: [typeRoots],
    types: ['node']
  }
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (name, version, ...more) => {
    const key = `${name} ${module} ${JSON.stringify(version.impliedNodeFormat)}`
    if (!files.has(key)) files.set(key, getSourceFile.call(host, name, version, ...more))
    return files.get(key)
  }
  const program = ts.createProgram(programs, options, host)
  const isOurs = name => {
    const file = resolve(name)
    return file.startsWith(ours) && !file.includes('node_modules')
  }
  // The declarations of others are read, and not checked.
  const own = program.getSourceFiles().filter(({ fileName }) => isOurs(fileName))
  const ofFiles = own.flatMap(file => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
  return [...program.getConfigFileParsingDiagnostics(), ...program.getOptionsDiagnostics(), ...ofFiles, ...program.getGlobalDiagnostics()]
    .map(({ file, start, messageText }) => {
      const where = file === undefined ? '' : `${file.fileName.slice(ours.length + 1)}:${file.getLineAndCharacterOfPosition(start).line + 1}: `
      return where + ts.flattenDiagnosticMessageText(messageText, '\n').split('\n').slice(0, Number(process.env.TYPES_DEPTH ?? 4)).join('\n')
    })
}

const lines = ['types-node20', 'types-node22', 'types-node24', 'types-node26']
/** Each line with a setting of its own, and the newest with all; `make ready` compiles every pair. */
const isCompiled = (line, place) => process.env.TRUNKLINE_LONG === '1' || line === lines.at(-1) || lines.indexOf(line) === place

for (const line of lines) {
  for (const setting of settings.filter((_, place) => isCompiled(line, place))) {
    test(`with ${line.replace('types-', '@types of ')} and ${Object.values(setting).join(', ')} every dispatcher is the other package's`, () => {
      assert.deepEqual(compile(line, setting), [])
    })
  }
}
