// Opens each page of the built guide in headless Chromium at two widths: no page may be wider than its window, and the search
// must find words that users look for. Needs Chromium on the path and Node.js 22 or later (its WebSocket); says so otherwise.
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** A telephone and a desk, in CSS pixels. */
const WIDTHS = [390, 1280]
const HEIGHT = 900
/** Words of users for which the search must find at least one page. */
const SEARCHED = ['GOAWAY', 'ECONNRESET', 'installGlobal']
/** Milliseconds until Chromium must have said where it listens, a page must have loaded, and a search answered. */
const PATIENCE = 60_000

const program = () => ['chromium', 'chromium-browser', 'google-chrome'].find(name => spawnSync(name, ['--version']).status === 0)

/** The pages of the guide under `folder`, without those that TypeDoc and rustdoc write. */
function pages (folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true }).flatMap(entry => {
    const path = join(prefix, entry.name)
    if (entry.isDirectory()) return path === 'api' ? [] : pages(folder, path)
    return path.endsWith('.html') && !['print.html', 'toc.html', '404.html'].includes(path) ? [path] : []
  })
}

/** A connection to the debugging protocol of a browser: `send(method, params)` and `once(event)`. */
async function connected (url) {
  const socket = new WebSocket(url)
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject })
  const answers = new Map()
  const events = new Map()
  let count = 0
  socket.onmessage = ({ data }) => {
    const { id, method, result, error, params } = JSON.parse(data)
    if (id === undefined) { events.get(method)?.(params); events.delete(method); return }
    const { resolve, reject } = answers.get(id)
    answers.delete(id)
    error === undefined ? resolve(result) : reject(new Error(error.message))
  }
  return {
    send: (method, params = {}) => new Promise((resolve, reject) => {
      answers.set(++count, { resolve, reject })
      socket.send(JSON.stringify({ id: count, method, params }))
    }),
    once: method => new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`no ${method} in ${PATIENCE} ms`)), PATIENCE)
      events.set(method, params => { clearTimeout(late); resolve(params) })
    }),
    close: () => socket.close()
  }
}

async function evaluated (page, expression) {
  const { result, exceptionDetails } = await page.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true })
  if (exceptionDetails !== undefined) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
  return result.value
}

async function opened (page, path) {
  const loaded = page.once('Page.loadEventFired')
  await page.send('Page.navigate', { url: pathToFileURL(path).href })
  await loaded
}

/** The first element of a page that reaches over the window and lies in no box that scrolls; undefined where there is none. */
const WIDE = `(() => {
  const main = document.querySelector('main')
  const scrolls = element => element !== main && (/auto|scroll/.test(getComputedStyle(element).overflowX) || scrolls(element.parentElement))
  const over = [...main.querySelectorAll('*')].find(element => element.getBoundingClientRect().right > window.innerWidth + 1 && !scrolls(element))
  return over && over.tagName + ' ' + over.textContent.slice(0, 60)
})()`

/** Labels of a figure that reach over the box that their middle is in, by the fonts of this machine. */
const LABELS = `(() => {
  const boxes = [...document.querySelectorAll('rect')].map(rect => rect.getBBox())
  const contains = ({ x, y, width, height }, label) => {
    const middle = [label.x + label.width / 2, label.y + label.height / 2]
    return middle[0] > x && middle[0] < x + width && middle[1] > y && middle[1] < y + height
  }
  return [...document.querySelectorAll('text')].filter(text => {
    const label = text.getBBox()
    const around = boxes.filter(box => contains(box, label)).sort((a, b) => a.width - b.width)[0]
    return around !== undefined && (label.x < around.x || label.x + label.width > around.x + around.width)
  }).map(text => text.textContent)
})()`

const search = word => `(async () => {
  const field = document.getElementById('mdbook-searchbar') ?? document.getElementById('searchbar')
  const results = () => document.querySelectorAll('#mdbook-searchresults li, #searchresults li').length
  const late = Date.now() + ${PATIENCE}
  document.getElementById('mdbook-search-toggle')?.click()
  while (results() === 0 && Date.now() < late) {
    field.value = ${JSON.stringify(word)}
    field.dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }))
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
    await new Promise(resolve => setTimeout(resolve, 200))
  }
  return results()
})()`

/** The faults of the site in `folder`; screenshots of a few pages go to `shots`. Undefined without a browser. */
export async function faults (folder, shots) {
  const browser = program()
  if (browser === undefined || globalThis.WebSocket === undefined) return undefined
  const profile = mkdtempSync(join(tmpdir(), 'trunkline-browser-'))
  const child = spawn(browser, ['--headless', '--no-sandbox', '--disable-gpu', '--allow-file-access-from-files', '--remote-debugging-port=0', `--user-data-dir=${profile}`, 'about:blank'], { stdio: ['ignore', 'ignore', 'pipe'], detached: true })
  try {
    let said = ''
    const port = await new Promise((resolve, reject) => {
      const late = setTimeout(() => reject(new Error(`${browser} opened no port: ${said}`)), PATIENCE)
      child.stderr.on('data', piece => {
        said += piece
        const found = /DevTools listening on ws:\/\/[^:]+:(\d+)/.exec(said)
        if (found) { clearTimeout(late); resolve(found[1]) }
      })
    })
    const [target] = (await (await fetch(`http://127.0.0.1:${port}/json/list`)).json()).filter(({ type }) => type === 'page')
    const page = await connected(target.webSocketDebuggerUrl)
    await page.send('Page.enable')
    mkdirSync(shots, { recursive: true })
    const found = []
    for (const width of WIDTHS) {
      await page.send('Emulation.setDeviceMetricsOverride', { width, height: HEIGHT, deviceScaleFactor: 1, mobile: width < 600 })
      for (const path of pages(folder)) {
        await opened(page, join(folder, path))
        const wide = await evaluated(page, WIDE)
        if (wide !== undefined) found.push(`${path} at ${width} px reaches over the window by ${wide}`)
        if (!path.includes('/') || path.startsWith('concepts')) {
          const { data } = await page.send('Page.captureScreenshot')
          writeFileSync(join(shots, `${path.replaceAll('/', '-')}.${width}.png`), Buffer.from(data, 'base64'))
        }
      }
    }
    const figures = join(folder, 'figures')
    for (const name of readdirSync(figures).filter(name => name.endsWith('.svg'))) {
      await opened(page, join(figures, name))
      for (const label of await evaluated(page, LABELS)) found.push(`${name}: "${label}" reaches over its box`)
    }
    for (const word of SEARCHED) {
      await opened(page, join(folder, 'index.html'))
      if (await evaluated(page, search(word)) === 0) found.push(`the search finds nothing for ${word}`)
    }
    page.close()
    return found
  } finally {
    // Its processes share a group and its stderr, which closes with the last of them: some write to the profile until then.
    const gone = new Promise(resolve => child.once('close', resolve))
    process.kill(-child.pid, 'SIGKILL')
    await gone
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
