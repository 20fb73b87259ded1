// Connections of an engine 'auto': one that begins alone, then those of many requests at once.
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import http from 'node:http'
import { Agent, request } from 'trunkline'

const hasThread = () => readdirSync('/proc/self/task').some(task => readFileSync(`/proc/self/task/${task}/comm`, 'utf8').trim() === 'trunkline')
const server = http.createServer((_, response) => { response.end('answer') }).listen(0, '127.0.0.1')
await once(server, 'listening')
const url = `http://127.0.0.1:${server.address().port}/`
const agent = new Agent({ engine: 'auto' })
const ask = async () => await (await request(url, { dispatcher: agent })).body.text()
for (let turn = 0; turn < 10; turn++) await ask()
const before = hasThread()
const answers = await Promise.all(Array.from({ length: 100 }, ask))
if (answers.some(answer => answer !== 'answer')) throw new Error(`answered ${answers}`)
console.log(`alone: ${before ? 'a' : 'no'} thread, under load: ${hasThread() ? 'a' : 'no'} thread`)
await agent.close()
server.close()
