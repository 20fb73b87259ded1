// A worker that ends while its engine opens a file: who has a lease on it (Linux) holds that up.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker, isMainThread, workerData } from 'node:worker_threads'
import { fileURLToPath } from 'node:url'

if (isMainThread) {
  const folder = mkdtempSync(join(tmpdir(), 'trunkline-test-'))
  const path = join(folder, 'leased')
  writeFileSync(path, 'bytes')
  const reserve = `
import fcntl, os, shutil, signal, sys
signal.signal(signal.SIGIO, lambda *_: os.write(1, b'asked for'))
fd = os.open(${JSON.stringify(path)}, os.O_RDWR)
fcntl.fcntl(fd, fcntl.F_SETLEASE, fcntl.F_WRLCK)
os.write(1, b'leased')
# Until the other process is no more.
sys.stdin.read()
shutil.rmtree(${JSON.stringify(folder)})
`
  const holder = spawn('python3', ['-c', reserve], { stdio: ['pipe', 'pipe', 'inherit'] })
  await once(holder.stdout, 'data')
  const worker = new Worker(fileURLToPath(import.meta.url), { workerData: path })
  console.log(String((await once(holder.stdout, 'data'))[0]).trim())
  await worker.terminate()
  console.log('the worker has ended')
  holder.stdin.end()
} else {
  const { file, Response, serve } = await import('trunkline')
  const server = serve({ hostname: '127.0.0.1', fetch: () => new Response(file(workerData)) })
  http.get(server.url).on('error', () => {})
}
