// A certificate for localhost, made once per run of the tests.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = join(tmpdir(), `trunkline-test-2-${process.getuid?.() ?? 0}`)
export const certFile = join(folder, 'cert.pem')
export const keyFile = join(folder, 'key.pem')

if (!existsSync(certFile)) {
  mkdirSync(folder, { recursive: true })
  const own = `${process.pid}`
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
    '-keyout', `${keyFile}.${own}`, '-out', `${certFile}.${own}`, '-days', '3650', '-subj', '/CN=trunkline-test',
    '-addext', 'subjectAltName=DNS:localhost,DNS:other.test,IP:127.0.0.1',
    '-addext', 'basicConstraints=critical,CA:FALSE'], { stdio: 'ignore' })
  renameSync(`${keyFile}.${own}`, keyFile)
  renameSync(`${certFile}.${own}`, certFile)
}

export const cert = readFileSync(certFile, 'utf8')
export const key = readFileSync(keyFile, 'utf8')
