// Finds dead links of a site of HTML: files that are not there, and anchors that their page does not have; also those that messages of errors name.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join, posix } from 'node:path'

const anchors = text => new Set([...text.matchAll(/\s(?:id|name)="([^"]*)"/g)].map(([, id]) => id))
const decode = text => decodeURIComponent(text.replaceAll('&amp;', '&'))

/** The dead links of the pages of `folder` that `isOurs`, a line each. */
export function broken (folder, isOurs = () => true) {
  const known = new Map()
  const anchorsOf = path => {
    if (!known.has(path)) known.set(path, anchors(readFileSync(join(folder, path), 'utf8')))
    return known.get(path)
  }
  const pages = readdirSync(folder, { recursive: true }).filter(path => path.endsWith('.html') && isOurs(path))
  return pages.flatMap(page => {
    const text = readFileSync(join(folder, page), 'utf8').replaceAll(/<script[^]*?<\/script>/g, '')
    const links = [...text.matchAll(/\s(?:href|src)="([^"]*)"/g)].map(([, link]) => link)
    return [...new Set(links)].filter(link => !/^([a-z][a-z0-9+.-]*:|\/\/)/i.test(link)).flatMap(link => {
      const [file, anchor] = decode(link).split('#')
      let path = file === '' ? page : posix.join(posix.dirname(page), file.split('?')[0])
      if (page.endsWith('404.html') && file.startsWith('/')) path = file.slice(1)
      if (!existsSync(join(folder, path))) return [`${page}: ${link}`]
      if (statSync(join(folder, path)).isDirectory()) path = posix.join(path, 'index.html')
      const isMissing = anchor !== undefined && anchor !== '' && path.endsWith('.html') && !anchorsOf(path).has(anchor)
      return isMissing ? [`${page}: ${link} (no such anchor)`] : []
    })
  })
}

/** The sections that messages and `help` of errors lead to: of each kind in Rust, and of each code of Node.js. */
function helped (root) {
  const text = path => readFileSync(join(root, path), 'utf8')
  const [, names] = text('engine/src/error.rs').match(/const NAMES: [^=]*= \[([^\]]*)\]/)
  const kinds = [...names.matchAll(/"([^"]+)"/g)].map(([, name]) => `how-to/troubleshooting.html#rust-${name}`)
  const codes = [...text('docs/guide/node-errors.md').matchAll(/^### ([A-Z0-9_]+)$/gm)].map(([, code]) => `node-errors.html#${code.toLowerCase()}`)
  if (kinds.length === 0 || codes.length === 0) throw new Error('there are no kinds or no codes of errors to look for')
  return [...kinds, ...codes]
}

/** Those of them that the built guide in `folder` does not have. */
export function withoutSection (root, folder) {
  return helped(root).filter(link => {
    const [page, anchor] = link.split('#')
    return !anchors(readFileSync(join(folder, page), 'utf8')).has(anchor)
  }).map(link => `${link} (messages of errors lead there)`)
}
