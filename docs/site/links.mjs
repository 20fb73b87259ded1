// Finds dead links of a site of HTML: files that are not there, and anchors that their page does not have.
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
