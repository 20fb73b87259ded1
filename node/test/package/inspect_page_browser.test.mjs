// The page of `inspect` in headless Chromium: what passes, what stalls, what drains, and names that must not become markup.
// Where there is no Chromium the tests say so and pass. `TRUNKLINE_SHOTS=folder` writes screenshots for the guide.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { Agent, Response, serve } from 'trunkline'
import { WebSocket } from 'ws'
import { cert, key } from '../support/certificates/certificate.mjs'

/** Milliseconds until Chromium must have said where it listens, and the page must show what it is to show. */
const PATIENCE = 60_000
const REQUESTS = 2_000
const { TRUNKLINE_SHOTS: shots } = process.env

const program = ['chromium', 'chromium-browser', 'google-chrome'].find(name => spawnSync(name, ['--version']).status === 0)
const skip = program === undefined ? 'there is no Chromium on the path' : false

/** A tab, by the debugging protocol. */
async function connected (url) {
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject })
  const answers = new Map()
  let count = 0
  socket.onmessage = ({ data }) => {
    const { id, result, error } = JSON.parse(data)
    if (id === undefined) return
    const { resolve, reject } = answers.get(id)
    answers.delete(id)
    error === undefined ? resolve(result) : reject(new Error(error.message))
  }
  const send = (method, params = {}) => new Promise((resolve, reject) => {
    answers.set(++count, { resolve, reject })
    socket.send(JSON.stringify({ id: count, method, params }))
  })
  const evaluate = async expression => {
    const { result, exceptionDetails } = await send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
    if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value
  }
  return {
    send,
    evaluate,
    close: () => socket.close(),
    /** Waits, within the tab, until the expression holds. */
    until: async expression => {
      const held = await evaluate(`new Promise(resolve => {
        const late = Date.now() + ${PATIENCE}
        const look = () => {
          if (${expression}) resolve(true)
          else if (Date.now() > late) resolve(false)
          else setTimeout(look, 50)
        }
        look()
      })`)
      assert.ok(held, `${expression}: ${await evaluate('document.body.innerText')}`)
    },
    shot: async (name, scheme) => {
      if (shots === undefined) return
      mkdirSync(shots, { recursive: true })
      await send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] })
      // The plots are drawn with the next state.
      const time = await evaluate('document.getElementById("status").textContent')
      await evaluate(`new Promise(resolve => {
        const look = () => document.getElementById('status').textContent === ${JSON.stringify(time)} ? setTimeout(look, 50) : resolve()
        look()
      })`)
      const { data } = await send('Page.captureScreenshot')
      writeFileSync(join(shots, `${name}-${scheme}.png`), Buffer.from(data, 'base64'))
    }
  }
}

/** Runs `work` with a function that opens a URL in a tab of its own. */
async function inBrowser (work) {
  const profile = mkdtempSync(join(tmpdir(), 'trunkline-browser-'))
  const child = spawn(program, ['--headless', '--no-sandbox', '--disable-gpu', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  const tabs = []
  try {
    let output = ''
    const port = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${program} opened no port: ${output}`)), PATIENCE)
      child.stderr.on('data', piece => {
        output += piece
        const found = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(output)
        if (found) { clearTimeout(late); resolve(found[1]) }
      })
    })
    await work(async (url, width = 1100, height = 820) => {
      const target = await (await fetch(`http://127.0.0.1:${port}/json/new?about:blank`, { method: 'PUT' })).json()
      const tab = await connected(target.webSocketDebuggerUrl)
      tabs.push(tab)
      await tab.send('Page.enable')
      await tab.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false })
      // Resolves once the page has taken the place of the empty one, whose scripts end.
      await tab.send('Page.navigate', { url })
      await tab.until('document.getElementById("status")?.dataset.state === "live"')
      return tab
    })
  } finally {
    for (const tab of tabs) tab.close()
    // Its processes share a group and its stderr, which closes with the last of them: some write to the profile until then.
    const gone = new Promise(resolve => child.once('close', resolve))
    process.kill(-child.pid, 'SIGKILL')
    await gone
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** `/large`: more than any window lets out; `/never...`: no answer. */
function answer (request) {
  const { pathname } = new URL(request.url)
  if (pathname.startsWith('/never')) return new Promise(() => {})
  return new Response(pathname === '/large' ? new Uint8Array(16 << 20) : 'answer')
}

const tile = label => `[...document.querySelectorAll('.tile')].find(tile => tile.textContent.endsWith(${JSON.stringify(label)}))?.querySelector('b').textContent`
const waits = name => `document.querySelector('[data-wait="${name}"]') !== null`

test('the page shows requests that pass, a stalled stream by its reason, a drain, and no name as markup', { skip }, async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', tls: { cert, key }, fetch: answer })
  const agent = new Agent({ allowH2: true, connections: 1, connect: { rejectUnauthorized: false } })
  const origin = server.url.origin
  const get = (path, signal) => agent.request({ origin, path, method: 'GET', signal })
  const gone = new AbortController()
  try {
    await inBrowser(async open => {
      const served = await open(server.inspect().url)
      const sent = await open(agent.inspect().url)

      let next = 0
      await Promise.all(Array.from({ length: 50 }, async () => {
        while (next++ < REQUESTS) await (await get('/')).body.text()
      }))
      for (const tab of [served, sent]) await tab.until(`${tile('Responses 2xx')} === '2,000'`)
      await served.until(`${tile('Requests')} === '2,000'`)

      const large = await get('/large', gone.signal)
      large.body.on('error', () => {})
      await served.until(waits('stream_window'))
      await sent.until(waits('reader'))
      const row = await served.evaluate('document.querySelector("[data-stream]").textContent')
      assert.match(row, /stream_window/)

      // Chosen by a program, as by a peer: a text, whatever it looks like.
      const hostile = '/never?<img/src=x/onerror=document.title="owned"><script>document.title="owned"</script>'
      get(hostile, gone.signal).catch(() => {})
      get('/never/again', gone.signal).catch(() => {})
      await sent.until('document.body.innerText.includes("onerror=")')
      assert.equal(await sent.evaluate('document.querySelectorAll("main img, main script").length'), 0)
      assert.match(await sent.evaluate('document.title'), /^trunkline client \d+$/)
      await sent.until(waits('response'))
      for (const scheme of ['light', 'dark']) {
        await served.shot('admin-server', scheme)
        await sent.shot('admin-client', scheme)
      }

      // Nothing listens there.
      await agent.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }).then(() => assert.fail('it answers'), () => {})
      await sent.until('document.querySelector("[data-timeline]") !== null')
      await sent.evaluate('document.querySelector("[data-timeline] summary").click()')
      await sent.until('document.querySelector("[data-timeline] pre").textContent.startsWith("GET http://127.0.0.1:1 failed after ")')

      const ended = server.close()
      await served.until('document.getElementById("status").dataset.state === "draining"')
      gone.abort()
      await ended
      await served.until('document.getElementById("status").dataset.state === "lost"')
    })
  } finally {
    gone.abort()
    await agent.destroy()
    await server.destroy()
  }
})

test('a page of another site reads nothing and presses nothing', { skip }, async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  try {
    const page = server.inspect()
    await inBrowser(async open => {
      // A page with the same site and another origin, which is the nearest that a foreign one can come.
      const other = await open(server.inspect().url)
      const read = await other.evaluate(`fetch(${JSON.stringify(`${page.url}state.json`)}).then(() => 'read', () => 'refused')`)
      assert.equal(read, 'refused')
    })
    const pressed = await fetch(new URL('actions/drain', page.url), { method: 'POST' })
    assert.equal(pressed.status, 403)
  } finally {
    await server.destroy()
  }
})

test('lists that are open keep their place while the page is drawn anew', { skip }, async () => {
  const server = serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
  const agent = new Agent()
  const origin = server.url.origin
  const gone = new AbortController()
  const fail = () => agent.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }).then(() => assert.fail('it answers'), () => {})
  try {
    await inBrowser(async open => {
      const tab = await open(agent.inspect().url)
      agent.request({ origin, path: '/never', method: 'GET', signal: gone.signal }).catch(() => {})
      await fail()
      await tab.until(`${waits('response')} && document.querySelector('[data-timeline]') !== null`)
      await tab.evaluate(`(() => {
        globalThis.removed = []
        const note = changes => { for (const change of changes) removed.push(...change.removedNodes) }
        for (const id of ['reason', 'timelines']) new MutationObserver(note).observe(document.getElementById(id), { childList: true })
        globalThis.option = document.querySelector('#reason option[value=response]')
        globalThis.details = document.querySelector('[data-timeline]')
        document.getElementById('reason').focus()
        details.open = true
      })()`)
      // A reason and a timeline more; then the first reason is none any more.
      const large = await agent.request({ origin, path: '/large', method: 'GET', signal: gone.signal })
      large.body.on('error', () => {})
      await fail()
      await tab.until(`${waits('reader')} && document.querySelectorAll('[data-timeline]').length === 2`)
      await tab.until('document.querySelector("#reason option[value=reader]") !== null')
      gone.abort()
      await tab.until(`!${waits('response').replace(' !== null', '')}`)
      assert.equal(await tab.evaluate('removed.length'), 0)
      assert.ok(await tab.evaluate('option.isConnected && details.isConnected && details.open'))
    })
  } finally {
    gone.abort()
    await agent.destroy()
    await server.destroy()
  }
})

test('a page without a connection says so, and reads with one token at a time', { skip }, async () => {
  const agent = new Agent()
  try {
    await agent.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }).then(() => assert.fail('it answers'), () => {})
    const server = serve({ port: 0, hostname: '127.0.0.1', fetch: answer })
    try {
      await inBrowser(async open => {
        const broken = `(() => {
          globalThis.unhandled = []
          addEventListener('unhandledrejection', event => unhandled.push(String(event.reason)))
          globalThis.real = globalThis.fetch
          globalThis.fetch = async () => { throw new TypeError('cut') }
        })()`
        const served = await open(server.inspect().url)
        await served.evaluate(broken)
        // The next state takes the status: what it says is kept here.
        await served.evaluate(`(() => {
          globalThis.said = ''
          new MutationObserver(() => { said += document.getElementById('status').textContent })
            .observe(document.getElementById('status'), { childList: true })
          showActions({ actions: [{ name: 'drain', label: 'Drain' }] })
          const button = document.querySelector('[data-action]')
          button.click()
          button.click()
        })()`)
        await served.until('said.includes("no connection: cut")')

        const url = agent.inspect().url
        const failed = () => agent.request({ origin: 'http://127.0.0.1:1', path: '/', method: 'GET' }).then(() => assert.fail('it answers'), () => {})
        const sent = await open(url)
        await failed()
        await sent.until('document.querySelector("[data-timeline]") !== null')
        await sent.evaluate(broken)
        await sent.evaluate('document.querySelector("[data-timeline] summary").click()')
        await sent.until('document.querySelector("[data-timeline] pre").textContent === "no connection: cut"')
        await sent.evaluate('globalThis.fetch = real; document.querySelector("[data-timeline]").open = false')
        await sent.evaluate('new Promise(resolve => setTimeout(resolve)).then(() => { document.querySelector("[data-timeline]").open = true })')
        await sent.until('document.querySelector("[data-timeline] pre").textContent.startsWith("GET http://127.0.0.1:1 failed after ")')
        for (const tab of [served, sent]) assert.deepEqual(await tab.evaluate('unhandled'), [])

        await sent.evaluate(`(() => {
          globalThis.signals = []
          globalThis.fetch = (path, options) => {
            if (path === '/events') signals.push(options.signal)
            return real(path, options)
          }
          for (const token of ['one', 'two', '']) {
            document.getElementById('token-text').value = token
            document.getElementById('token').dispatchEvent(new Event('submit', { cancelable: true }))
          }
        })()`)
        assert.deepEqual(await sent.evaluate('signals.map(signal => signal?.aborted)'), [true, false])
        assert.equal(await sent.evaluate('sessionStorage.getItem("token")'), 'two')
      })
    } finally {
      await server.destroy()
    }
  } finally {
    await agent.destroy()
  }
})
