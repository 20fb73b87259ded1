// The licences of everything that is linked into the addon, as one text: most of them ask for it.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const WITH_LICENCE = /^(licen[cs]e|copying|notice|unlicense)/i

/** Crates that the addon is built from, by the lock file. */
function linked (root) {
  const asked = ['metadata', '--format-version', '1', '--locked', '--manifest-path', join(root, 'Cargo.toml')]
  const { packages, resolve } = JSON.parse(execFileSync('cargo', asked, { maxBuffer: 1 << 28 }))
  const byId = new Map(packages.map(one => [one.id, one]))
  const nodes = new Map(resolve.nodes.map(node => [node.id, node]))
  const seen = new Set()
  const queue = [packages.find(one => one.name === 'trunkline-node').id]
  for (let id = queue.pop(); id !== undefined; id = queue.pop()) {
    if (seen.has(id)) continue
    seen.add(id)
    for (const { pkg, dep_kinds: kinds } of nodes.get(id).deps) {
      if (kinds.some(({ kind }) => kind === null)) queue.push(pkg)
    }
  }
  // Without a source: a crate of ours.
  return [...seen].map(id => byId.get(id)).filter(one => one.source !== null)
}

/** The crates' names above each text; one that many share stands once. */
export function licences (root) {
  const byText = new Map()
  for (const { name, version, license, manifest_path: manifest } of linked(root)) {
    const folder = dirname(manifest)
    const files = readdirSync(folder).filter(file => WITH_LICENCE.test(file)).sort()
    const texts = files.map(file => readFileSync(join(folder, file), 'utf8').trim())
    // A crate without a file says by name what it is under.
    for (const text of texts.length > 0 ? texts : [`${license}: the crate has no text of it.`]) {
      byText.set(text, [...byText.get(text) ?? [], `${name} ${version} (${license})`])
    }
  }
  const parts = [...byText].map(([text, names]) => `${names.sort().join('\n')}\n\n${text}\n`)
  return `The addon contains the following crates.\n\n${parts.sort().join(`\n${'-'.repeat(72)}\n\n`)}`
}
