// The lines on stderr that undici prints where NODE_DEBUG names `undici` or `fetch`, from its diagnostics channels.

import { hasSubscribers, subscribe } from 'node:diagnostics_channel'
import { debuglog } from 'node:util'

interface Message {
  connectParams: { host: string; port: string; protocol: string; version: string }
  request: { method: string; origin: string; path: string }
  response: { statusCode: number }
  error: Error
}

const [undici, fetch] = [debuglog('undici'), debuglog('fetch')]
const print = fetch.enabled ? fetch : undici

const placeOf = ({ connectParams: { host, port, protocol, version } }: Message): string => `${host}${port === '' ? '' : `:${port}`} using ${protocol}${version}`
const targetOf = ({ request: { method, origin, path } }: Message): string => `${method} ${origin}${path}`

const LINES: Record<string, Record<string, (message: Message) => string>> = {
  client: {
    beforeConnect: message => `connecting to ${placeOf(message)}`,
    connected: message => `connected to ${placeOf(message)}`,
    connectError: message => `connection to ${placeOf(message)} errored - ${message.error.message}`,
    sendHeaders: message => `sending request to ${targetOf(message)}`
  },
  request: {
    headers: message => `received response to ${targetOf(message)} - HTTP ${message.response.statusCode}`,
    trailers: message => `trailers received from ${targetOf(message)}`,
    error: message => `request to ${targetOf(message)} errored - ${message.error.message}`
  }
}

if (print.enabled) {
  for (const [subject, lines] of Object.entries(LINES)) {
    const channels = Object.entries(lines).map(([name, line]) => ({ name: `undici:${subject}:${name}`, line }))
    // A copy of undici in the process prints them already.
    if (channels.some(({ name }) => hasSubscribers(name))) continue
    for (const { name, line } of channels) subscribe(name, message => { print('%s', line(message as Message)) })
  }
}
