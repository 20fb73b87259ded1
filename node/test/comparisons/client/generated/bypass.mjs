// Lists of hosts that an EnvHttpProxyAgent reaches without its proxies x hosts.
import { once } from 'node:events'
import http from 'node:http'

const LISTS = [
  '', ',', ' \t,, ', '*', ' * ', 'a.test,*', '*,a.test', '*:80', '*:8080', 'example.test', 'EXAMPLE.Test', 'example.test.', '.example.test', '*.example.test', '.example.test.',
  'example.test:80', 'example.test:8080', 'example.test:443', '.example.test:8080', '*.example.test:8080', 'a.test, example.test', 'a.test example.test', 'a.test\texample.test',
  'a.test,,example.test', 'example', 'test', '.test', '*test', '.*test', '*.*', 'sub.*', 'sub.example.test', 'example.test:', 'example.test:x', 'example.test:0', 'example.test:99999', 'http://example.test',
  'localhost', 'localhost:8080', '127.0.0.1', '127.0.0.1:8080', '127.0.0.0/8', '127.0.0.*', '::1', '[::1]', '[::1]:8080', '[::1]:80', '::1:80', '.', '*.'
]
const HOSTS = [
  'http://example.test', 'http://example.test:8080', 'http://EXAMPLE.test', 'http://example.test.', 'http://sub.example.test', 'http://a.sub.example.test:8080', 'http://notexample.test',
  'https://example.test', 'https://example.test:8080', 'https://sub.example.test', 'http://localhost:8080', 'http://127.0.0.1:8080', 'http://[::1]', 'http://[::1]:8080'
]

const programs = {}
for (const list of LISTS) {
  programs[JSON.stringify(list)] = async (module, stage) => {
    let asked = 0
    const proxy = http.createServer((request, response) => {
      asked++
      response.end('by the proxy')
    })
    proxy.on('connect', (request, socket) => {
      asked++
      socket.end('HTTP/1.1 502 No\r\ncontent-length: 0\r\n\r\n')
    })
    await once(proxy.listen(0, '127.0.0.1'), 'listening')
    stage.closers.push(() => {
      proxy.closeAllConnections()
      proxy.close()
    })
    const url = `http://127.0.0.1:${proxy.address().port}`
    // A name that is looked up here is the one of an origin: nothing is sent there.
    const connect = { lookup: (name, options, callback) => { callback(Object.assign(new Error('looked up'), { code: 'ENOTFOUND' })) } }
    const agent = stage.own(new module.EnvHttpProxyAgent({ httpProxy: url, httpsProxy: url, noProxy: list, connect, connectTimeout: 5000 }))
    for (const origin of HOSTS) {
      const before = asked
      await agent.request({ origin, path: '/', method: 'GET' }).then(({ body }) => body.text(), () => {})
      stage.log('way')(origin, asked > before ? 'by the proxy' : 'directly')
    }
  }
}
export default programs
