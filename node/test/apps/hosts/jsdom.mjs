// jsdom: a page with scripts, styles, XMLHttpRequest, cookies and redirects, loaded by its dispatcher.
import { once } from 'node:events'
import http from 'node:http'
import { Agent, createServer } from 'trunkline'
import { JSDOM } from 'jsdom'

const PAGE = '<!doctype html><html><head><link rel=stylesheet href=/style.css><script src=/script.js></script></head><body><p id=text>page</p></body></html>'
const SCRIPT = `
  document.querySelector('html').dataset.script = 'ran'
  const request = new XMLHttpRequest()
  request.open('POST', '/echo')
  request.setRequestHeader('x-own', 'yes')
  request.onload = () => { window.answer = [request.status, request.responseText, request.getResponseHeader('x-back')]; window.dispatchEvent(new Event('answered')) }
  request.onerror = () => { window.answer = 'failed'; window.dispatchEvent(new Event('answered')) }
  addEventListener('load', () => { request.send('sent') })
`

async function listener (request, response) {
  const chunks = []
  for await (const chunk of request) chunks.push(chunk)
  const { url, headers } = request
  if (url === '/moved') return response.writeHead(302, { location: '/', 'set-cookie': 'seen=1' }).end()
  if (url === '/') return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'page=2' }).end(PAGE)
  if (url === '/style.css') return response.writeHead(200, { 'content-type': 'text/css' }).end('p { color: rgb(1, 2, 3) }')
  if (url === '/script.js') return response.writeHead(200, { 'content-type': 'text/javascript' }).end(SCRIPT)
  if (url === '/echo') return response.writeHead(200, { 'content-type': 'text/plain', 'x-back': headers['x-own'] }).end(`${Buffer.concat(chunks)} ${headers.cookie}`)
  response.writeHead(404, { 'content-type': 'text/html' }).end('none')
}

export async function cases (side) {
  const server = side === 'own' ? http.createServer(listener) : createServer({ requests: 'http' }, listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const origin = `http://127.0.0.1:${server.address().port}`
  const load = path => JSDOM.fromURL(`${origin}${path}`, { runScripts: 'dangerously', resources: side === 'own' ? 'usable' : { dispatcher: new Agent() } })
  return {
    'a page with its scripts, styles and requests': async () => {
      const { window, cookieJar } = await load('/moved')
      if (window.answer === undefined) await once(window, 'answered')
      const { document } = window
      return {
        path: window.location.pathname, script: document.documentElement.dataset.script, color: window.getComputedStyle(document.querySelector('p')).color,
        answer: window.answer, cookies: (await cookieJar.getCookieString(origin)).split('; ').sort()
      }
    },
    'a page that is not there': () => load('/none').then(({ window }) => window.document.body.textContent, error => error.message.replace(origin, 'ORIGIN'))
  }
}
