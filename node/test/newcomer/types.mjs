// Compiles programs as strict TypeScript, the declarations of every package included.
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { root } from './blocks.mjs'

const require = createRequire(join(root, 'node', 'package.json'))

/** The names that the programs use of packages that have no declarations of their own. */
const UNTYPED = `declare module 'express' {
  interface App { (request: import('node:http').IncomingMessage, response: import('node:http').ServerResponse): void; get (path: string, listener: (request: any, response: any) => void): App }
  export default function express (): App
}
declare module 'ws' {
  export class WebSocket { constructor (url: string); on (event: string, listener: (data: any) => void): this; send (data: string): void; close (): void }
}
`

/** Compiles the `blocks` in `folder`, where the package is installed; gives what is wrong with them or with our declarations.
 * With `skipLibCheck` declarations are not checked, which takes a fraction of the time. */
export function compile (folder, blocks, typesNode, { skipLibCheck = false } = {}) {
  const ts = require('typescript')
  const files = new Map(blocks.map((block, number) => [join(folder, `block${number}.mts`), block]))
  for (const [file, { code }] of files) writeFileSync(file, code)
  writeFileSync(join(folder, 'untyped.d.ts'), UNTYPED)
  mkdirSync(join(folder, 'types'), { recursive: true })
  symlinkSync(typesNode, join(folder, 'types', 'node'))
  const program = ts.createProgram([...files.keys(), join(folder, 'untyped.d.ts')], {
    strict: true,
    skipLibCheck,
    noEmit: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    typeRoots: [join(folder, 'types')],
    types: ['node']
  })
  const ours = realpathSync(join(folder, 'node_modules', 'trunkline'))
  return ts.getPreEmitDiagnostics(program).flatMap(({ file, start, messageText }) => {
    const text = ts.flattenDiagnosticMessageText(messageText, '\n')
    if (file === undefined) return [text]
    const block = files.get(file.fileName)
    const line = file.getLineAndCharacterOfPosition(start).line + 1
    if (block !== undefined) return [`${block.where}, line ${line} of the block: ${text}`]
    return file.fileName.startsWith(ours) ? [`${file.fileName}:${line}: ${text}`] : []
  })
}

