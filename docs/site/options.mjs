// The page of all options of the package, from the comments at their declarations.
import { createRequire } from 'node:module'
import { join } from 'node:path'

/** The declarations, by file and name, with the heading and the sentence of each. */
const TABLES = [
  ['client/options.ts', 'Options', 'Dispatchers', 'Of `Client`, `Pool`, `Agent`, and with what they add of `ProxyAgent` and `EnvHttpProxyAgent`.'],
  ['client/options.ts', 'ConnectOptions', 'Connections of a dispatcher', '`connect` of a dispatcher.'],
  ['client/tls.ts', 'TlsOptions', 'TLS of a dispatcher', 'In `connect`, `proxyTls` and `requestTls`.'],
  ['client/prepare/prepare.ts', 'DispatchOptions', 'Requests', 'Of `request`, `stream`, `dispatch` and the like.'],
  ['client/proxy/proxy.ts', 'ProxyOptions', 'Proxies', 'Of `ProxyAgent`.'],
  ['serve/options.ts', 'ServeOptions', '`serve`', ''],
  ['serve/options.ts', 'ReloadOptions', '`serve` and `server.reload`', ''],
  ['serve/websocket.ts', 'WebSocketHandler', '`websocket` of `serve`', ''],
  ['server/listen/options.ts', 'ListenOptions', 'Listening', 'Of `serve`, and where node:http2 has them of `createServer` and `createSecureServer`.'],
  ['server/listen/options.ts', 'ListenTarget', 'Where a server listens', ''],
  ['server/bounds.ts', 'Limits', '`limits`', 'Of each server.'],
  ['server/bounds.ts', 'Timeouts', '`timeouts`', 'Of each server, ms.'],
  ['server/bounds.ts', 'Windows', '`windows`', 'Of each server, bytes.']
]

const cell = text => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').trim()

/** The page, in Markdown. */
export function optionsPage (root) {
  const require = createRequire(join(root, 'docs/site/package.json'))
  const ts = require('typescript')
  const parts = TABLES.map(([file, name, heading, sentence]) => {
    const path = join(root, 'node/src', file)
    const source = ts.createSourceFile(path, ts.sys.readFile(path), ts.ScriptTarget.Latest, true)
    let found
    source.forEachChild(node => { if (ts.isInterfaceDeclaration(node) && node.name.text === name) found = node })
    if (found === undefined) throw new Error(`node/src/${file} declares no interface ${name}`)
    const rows = found.members.filter(ts.isPropertySignature).map(member => {
      const text = ts.getJSDocCommentsAndTags(member).map(doc => ts.getTextOfJSDocComment(doc.comment) ?? '').join(' ')
      return `| \`${member.name.getText(source)}\` | \`${cell(member.type.getText(source))}\` | ${cell(text)} |`
    })
    return `## ${heading}\n\n${sentence === '' ? '' : `${sentence}\n\n`}| option | type | meaning, unit, default |\n|---|---|---|\n${rows.join('\n')}\n`
  })
  return `# Options of Node.js\n\nMade from the declarations; an editor shows the same text.\n\n${parts.join('\n')}`
}
