// Every option of a dispatcher with every kind of value: taken, or refused with which words.

/** Values of every kind; those that are functions make theirs anew. */
const VALUES = { 'nothing': undefined, 'null': null, '-1': -1, '0': 0, '1': 1, '1.5': 1.5, 'NaN': NaN, 'Infinity': Infinity, "'1'": '1', "''": '', "'asd'": 'asd', 'true': true, 'false': false, '{}': {}, '[]': [] }

const OF_CLIENT = [
  'keepAliveTimeout', 'keepAliveMaxTimeout', 'keepAliveTimeoutThreshold', 'headersTimeout', 'bodyTimeout', 'connectTimeout',
  'maxHeaderSize', 'maxResponseSize', 'maxRequestsPerClient', 'pipelining', 'connect', 'localAddress', 'strictContentLength',
  'autoSelectFamily', 'autoSelectFamilyAttemptTimeout', 'allowH2', 'maxConcurrentStreams', 'socketPath', 'useH2c',
  'initialWindowSize', 'connectionWindowSize', 'pingInterval', 'maxCachedSessions',
  'keepAlive', 'socketTimeout', 'requestTimeout', 'idleTimeout', 'maxKeepAliveTimeout', 'interceptors', 'webSocket'
]
const OF_POOL = ['connections', 'clientTtl', 'connect', 'pipelining']
const OF_AGENT = ['maxOrigins', 'connections', 'connect']

const programs = {}
const report = (log, make) => {
  try {
    const made = make()
    log('taken', made.constructor.name)
    made.destroy()
  } catch (error) {
    log('refused', error.name, error.code, error.message)
  }
}

for (const [value, given] of Object.entries(VALUES)) {
  for (const name of OF_CLIENT) {
    programs[`Client, ${name}: ${value}`] = ({ Client }, stage) => { report(stage.log('new'), () => new Client('http://localhost:1', { [name]: given })) }
  }
  for (const name of OF_POOL) {
    programs[`Pool, ${name}: ${value}`] = ({ Pool }, stage) => { report(stage.log('new'), () => new Pool('http://localhost:1', { [name]: given })) }
  }
  for (const name of OF_AGENT) {
    programs[`Agent, ${name}: ${value}`] = ({ Agent }, stage) => { report(stage.log('new'), () => new Agent({ [name]: given })) }
  }
  programs[`Client, options: ${value}`] = ({ Client }, stage) => { report(stage.log('new'), () => new Client('http://localhost:1', given)) }
  programs[`Client, URL: ${value}`] = ({ Client }, stage) => { report(stage.log('new'), () => new Client(given)) }
  programs[`Pool, URL: ${value}`] = ({ Pool }, stage) => { report(stage.log('new'), () => new Pool(given)) }
}
for (const url of [
  'http://localhost', 'https://localhost', 'localhost', 'ftp://localhost', 'http://localhost/a', 'http://localhost/?q', 'http://localhost/#h',
  'http:/localhost', '//localhost', 'http://u:p@localhost', 'http://[::1]:80', 'HTTP://LOCALHOST', 'ws://localhost', 'http://localhost:99999', ''
]) {
  programs[`Client, URL text: ${url}`] = ({ Client }, stage) => { report(stage.log('new'), () => new Client(url)) }
}
for (const [label, parts] of Object.entries({
  'port text': { protocol: 'http:', hostname: 'localhost', port: '80' },
  'port asd': { protocol: 'http:', hostname: 'localhost', port: 'asd' },
  'path': { protocol: 'http:', hostname: 'localhost', path: '/a' },
  'pathname': { protocol: 'http:', hostname: 'localhost', pathname: '/a' },
  'path a number': { protocol: 'http:', hostname: 'localhost', path: 1 },
  'pathname a number': { protocol: 'http:', hostname: 'localhost', pathname: 1 },
  'hostname a number': { protocol: 'http:', hostname: 1 },
  'origin a number': { protocol: 'http:', origin: 1 },
  'protocol a number': { protocol: 1, hostname: 'localhost' },
  'protocol asd': { protocol: 'asd', hostname: 'localhost' },
  'origin': { origin: 'http://localhost:80', protocol: 'http:' },
  'origin with a slash': { origin: 'http://localhost:80/', protocol: 'http:' }
})) {
  programs[`Client, URL parts: ${label}`] = ({ Client }, stage) => { report(stage.log('new'), () => new Client(parts)) }
}

export default programs
