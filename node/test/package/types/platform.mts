// With the fetch of Node's own types, without those of a browser, and with what else takes a dispatcher.
import { UndiciHttpHandler } from '@smithy/undici-http-handler'
import trunkline, { Agent, Client, errors, request, type Answer, type ConnectOptions, type Interceptor, type Options } from 'trunkline'

const url = 'https://localhost/'
const agent = new Agent()
await fetch(url, { dispatcher: agent })
await fetch(url, { method: 'POST', body: 'text', dispatcher: new Client(url) })
export const handler = new UndiciHttpHandler({ dispatcher: agent })

const options: Options = { connections: 4, http3: true, connect: { rejectUnauthorized: false } satisfies ConnectOptions }
const answer: Answer = await request(url, { dispatcher: new trunkline.Pool(url, options), headers: { accept: '*/*' }, signal: AbortSignal.timeout(1) })
const text: string = await answer.body.text()
for await (const chunk of answer.body) Buffer.from(chunk as Uint8Array)
const passed: Interceptor = dispatch => (given, received) => dispatch(given, received)
request(url, {}, (error, given) => { if (error === null) given.body.resume() })
// @ts-expect-error: what is awaited is an answer and nothing else
const nothing: number = await request(url, { method: 'GET' })
// @ts-expect-error: connections is a number
new Agent({ connections: 'four' })
// @ts-expect-error: no option is called so
new Agent({ conections: 4 })
const error = new errors.SocketError('text', { cause: new Error('cause') })
export const all: unknown[] = [text, nothing, agent.compose(passed), error.code, agent.stats.origins, agent.stats.totals.submitted, new Client(url).stats.running]
