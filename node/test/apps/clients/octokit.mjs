import { Octokit } from 'octokit'

/** Every second request for it is within its limit. */
let limited = 0

export function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://api.test')
  const json = (value, status = 200, fields = {}) => { response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...fields }).end(JSON.stringify(value)) }
  const page = Number(searchParams.get('page') ?? 1)
  if (pathname === '/never') return
  if (pathname === '/repos/o/r/issues' && request.method === 'GET') return json([{ id: page }], 200, page < 3 ? { link: `<https://${request.headers.host ?? request.headers[':authority']}/repos/o/r/issues?page=${page + 1}>; rel="next"` } : {})
  if (pathname === '/repos/o/r/issues') return json({ sent: JSON.parse(body) }, 201)
  if (pathname === '/graphql') return json({ data: { viewer: { login: 'you' } } })
  if (pathname === '/user' && ++limited % 2 === 1) return json({ message: 'API rate limit exceeded' }, 403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' })
  if (pathname === '/user') return json({ login: 'you' }, 200, { etag: '"1"' })
  if (pathname === '/repos/o/r/contents/f') return response.writeHead(200, { 'content-type': 'application/vnd.github.raw' }).end('raw '.repeat(50_000))
  if (pathname === '/repos/o/r/subscription') return response.writeHead(204).end()
  json({ message: 'Not Found', documentation_url: 'https://docs.test' }, 404)
}

export function calls ({ url, fetch }) {
  const client = new Octokit({
    baseUrl: url, auth: 'token', retry: { enabled: false }, ...fetch === undefined ? {} : { request: { fetch } },
    throttle: { fallbackSecondaryRateRetryAfter: 0, onRateLimit: (after, options, octokit, count) => count < 1, onSecondaryRateLimit: () => false }, log: { debug () {}, info () {}, warn () {}, error () {} }
  })
  const failure = error => [error.name, error.status, error.message]
  return {
    'all pages': async () => (await client.paginate(client.rest.issues.listForRepo, { owner: 'o', repo: 'r' })).map(({ id }) => id),
    'an issue': async () => (await client.rest.issues.create({ owner: 'o', repo: 'r', title: 'größe' })).data,
    graphql: () => client.graphql('{ viewer { login } }'),
    'a limit that is waited for': async () => (await client.rest.users.getAuthenticated()).data,
    raw: async () => (await client.rest.repos.getContent({ owner: 'o', repo: 'r', path: 'f', mediaType: { format: 'raw' } })).data.length,
    none: async () => (await client.request('DELETE /repos/{owner}/{repo}/subscription', { owner: 'o', repo: 'r' })).status,
    'not there': () => client.rest.repos.get({ owner: 'no', repo: 'no' }).catch(failure),
    aborted: () => client.request('GET /never', { request: { signal: AbortSignal.timeout(100), ...fetch === undefined ? {} : { fetch } } }).catch(error => error.name)
  }
}
