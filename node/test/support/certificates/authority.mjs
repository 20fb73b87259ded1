// Authorities of their own, and what they issue, made by openssl in a folder that ends with the process.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const folder = mkdtempSync(join(tmpdir(), 'trunkline-authority-'))
process.on('exit', () => { rmSync(folder, { recursive: true, force: true }) })
const openssl = (...args) => execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] })
const read = name => readFileSync(join(folder, name), 'utf8')
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes']
let made = 0

/** An authority; `issue` gives a certificate and its key, `revoke` a list of those that are revoked. */
export function authority (name, issuer = undefined) {
  const own = `${name}-${made++}`
  if (issuer === undefined) openssl('req', '-x509', ...KEY, '-keyout', `${own}.key`, '-out', `${own}.crt`, '-days', '3650', '-subj', `/CN=${name}`)
  else issuer.sign(own, name, 'basicConstraints=critical,CA:TRUE')
  writeFileSync(join(folder, `${own}.index`), '')
  writeFileSync(join(folder, `${own}.cnf`), `[ca]\ndefault_ca=a\n[a]\ndatabase=${own}.index\ndefault_md=sha256\ndefault_crl_days=30\ncrlnumber=${own}.number\n`)
  writeFileSync(join(folder, `${own}.number`), '01\n')
  return {
    cert: read(`${own}.crt`),
    key: read(`${own}.key`),
    sign (file, subject, extensions, days = '3650') {
      openssl('req', ...KEY, '-new', '-keyout', `${file}.key`, '-out', `${file}.csr`, '-subj', `/CN=${subject}`)
      writeFileSync(join(folder, `${file}.ext`), extensions)
      openssl('x509', '-req', '-in', `${file}.csr`, '-CA', `${own}.crt`, '-CAkey', `${own}.key`, '-CAcreateserial', '-days', days, '-out', `${file}.crt`, '-extfile', `${file}.ext`)
    },
    issue (subject, extensions = 'extendedKeyUsage=clientAuth') {
      const file = `${subject}-${made++}`
      this.sign(file, subject, extensions)
      return { file, cert: read(`${file}.crt`), key: read(`${file}.key`) }
    },
    revoke ({ file }) {
      openssl('ca', '-config', `${own}.cnf`, '-revoke', `${file}.crt`, '-keyfile', `${own}.key`, '-cert', `${own}.crt`)
      openssl('ca', '-config', `${own}.cnf`, '-gencrl', '-keyfile', `${own}.key`, '-cert', `${own}.crt`, '-out', `${own}.crl`)
      return read(`${own}.crl`)
    }
  }
}
