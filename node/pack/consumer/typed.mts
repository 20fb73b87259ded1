import trunkline, { Agent, Client, Pool, errors, installGlobal, request } from 'trunkline'
import type { Answer, Options } from 'trunkline'

const options: Options = { connections: 4, http3: true, connect: { rejectUnauthorized: false } }
const agent = new Agent(options)
const answer: Answer = await request('https://example.org/', { dispatcher: agent, headers: { accept: '*/*' } })
const text: string = await answer.body.text()
const status: number = answer.statusCode
const uninstall: () => void = installGlobal(agent)
const pool: Pool = new Pool('https://example.org')
const client: Client = new trunkline.Client('https://example.org', { pipelining: 1 })
// @ts-expect-error: connections is a number
new Agent({ connections: 'four' })
export const all: unknown[] = [text, status, uninstall, pool, client, new errors.InvalidArgumentError('message').code]
