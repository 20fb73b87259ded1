// The resource timings of a fetch (https://w3c.github.io/resource-timing/), as undici marks them.
import assert from 'node:assert/strict'
import { PerformanceObserver } from 'node:perf_hooks'
import test from 'node:test'
import zlib from 'node:zlib'
import { fetch } from 'trunkline'
import * as undici7 from 'undici7'
import { h1 } from '../support/servers/servers.mjs'

const TEXT = 'decoded '.repeat(100)
const CODED = zlib.gzipSync(TEXT)

/** A server, and the entries of what is fetched of it by their paths. */
async function measured (t) {
  const server = await h1((request, response) => {
    switch (request.url) {
      case '/coded': return response.writeHead(200, { 'content-encoding': 'gzip' }).end(CODED)
      case '/broken': return response.writeHead(200, { 'content-encoding': 'gzip' }).end('no')
      case '/cut': return response.writeHead(200, { 'content-length': 10 }).write('ab', () => response.socket.end())
      case '/moved': return response.writeHead(302, { location: '/text' }).end()
      case '/refused': return response.writeHead(407).end()
      default: return response.end(TEXT)
    }
  })
  t.after(server.close)
  const entries = new Map()
  let noticed = () => {}
  const observer = new PerformanceObserver(list => {
    for (const entry of list.getEntries()) entries.set(entry.name, entry)
    noticed()
  })
  observer.observe({ type: 'resource' })
  t.after(() => { observer.disconnect() })
  const entryOf = async path => {
    const name = `${server.url}${path}`
    while (!entries.has(name)) await new Promise(resolve => { noticed = resolve })
    const entry = entries.get(name)
    entries.delete(name)
    return entry
  }
  return { url: server.url, entries, entryOf }
}

test('the parts of a fetch are numbers, one behind the other, also of its connection and behind a redirect', async t => {
  const { url, entryOf } = await measured(t)
  for (const own of [undici7.fetch, fetch]) {
    for (const path of ['/text', '/moved']) {
      await (await own(`${url}${path}`)).text()
      const entry = await entryOf(path)
      const { startTime, fetchStart, domainLookupStart, domainLookupEnd, connectStart, secureConnectionStart, connectEnd, requestStart, responseStart, responseEnd, redirectStart, redirectEnd } = entry
      const times = [startTime, fetchStart, domainLookupStart, domainLookupEnd, connectStart, secureConnectionStart, connectEnd, requestStart, responseStart, responseEnd]
      for (const [at, time] of times.entries()) assert.ok(Number.isFinite(time) && time >= (times[at - 1] ?? 0), `${at} of ${times}`)
      if (path === '/moved') assert.ok(redirectStart >= startTime && redirectEnd >= redirectStart && connectStart >= redirectEnd)
      else assert.deepEqual([redirectStart, redirectEnd], [0, 0])
    }
  }
})

test('a fetch is measured with the bytes that its reader has, once it has them, and also where it was cut', async t => {
  const { url, entries, entryOf } = await measured(t)
  const sizes = async path => { const { encodedBodySize, decodedBodySize } = await entryOf(path); return [encodedBodySize, decodedBodySize] }
  for (const own of [undici7.fetch, fetch]) {
    const response = await own(`${url}/coded`)
    await (await own(`${url}/text`)).text()
    assert.deepEqual(await sizes('/text'), [TEXT.length, TEXT.length])
    assert.ok(!entries.has(`${url}/coded`), 'nobody has read it')
    assert.equal(await response.text(), TEXT)
    assert.deepEqual(await sizes('/coded'), [CODED.length, TEXT.length])
    await assert.rejects(own(`${url}/broken`).then(response => response.text()))
    assert.deepEqual(await sizes('/broken'), [2, 0])
    await assert.rejects(own(`${url}/cut`).then(response => response.text()))
    assert.deepEqual(await sizes('/cut'), [2, 2])
  }
})

test('a fetch without a response is not measured', async t => {
  const { url, entries, entryOf } = await measured(t)
  const controller = new AbortController()
  const aborted = fetch(`${url}/aborted`, { signal: controller.signal })
  controller.abort()
  await Promise.allSettled([aborted, fetch(`${url}/refused`), fetch(`${url}/other`, { integrity: 'sha256-x' }), (await fetch('data:,x')).text()])
  await (await fetch(`${url}/text`)).text()
  await entryOf('/text')
  assert.deepEqual([...entries.keys()], [])
})
