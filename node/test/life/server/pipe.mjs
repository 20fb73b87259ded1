// A process that exits while a requested file is a pipe without a writer.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { file, Response, serve } from 'trunkline'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
execFileSync('mkfifo', [join(folder, 'pipe')])
process.on('exit', () => { rmSync(folder, { recursive: true }) })
const error = error => new Response(error.code, { status: 404 })
const server = serve({ hostname: '127.0.0.1', fetch: () => new Response(file(join(folder, 'pipe'))), error })
const asked = fetch(server.url).then(answer => answer.text())
console.log(await Promise.race([asked, new Promise(resolve => setTimeout(resolve, 20_000, 'no answer'))]))
process.exit(7)
