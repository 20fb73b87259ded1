// The AWS SDK's event streams over HTTP/2 (`NodeHttp2Handler`), at a server that speaks their encoding.
import { EventStreamCodec } from '@smithy/core/event-streams'
import { fromUtf8, toUtf8 } from '@smithy/core/serde'
import { NodeHttp2Handler } from '@smithy/node-http-handler'
import { StartStreamTranscriptionCommand, TranscribeStreamingClient } from '@aws-sdk/client-transcribe-streaming'
import http2 from 'node:http2'

const codec = new EventStreamCodec(toUtf8, fromUtf8)
const text = value => ({ type: 'string', value })
const event = (type, body) => codec.encode({
  headers: { ':message-type': text('event'), ':event-type': text(type), ':content-type': text('application/json') },
  body: Buffer.from(JSON.stringify(body))
})
const transcript = (words, number) => event('TranscriptEvent', { Transcript: { Results: [{ ResultId: String(number), Alternatives: [{ Transcript: words }], IsPartial: false }] } })
const exception = (type, message) => codec.encode({
  headers: { ':message-type': text('exception'), ':exception-type': text(type), ':content-type': text('application/json') },
  body: Buffer.from(JSON.stringify({ Message: message }))
})

/** Answers each message of audio with the number of its bytes; names of sessions ask for faults. */
function serve (stream, headers) {
  const kind = headers['x-amzn-transcribe-session-id'] ?? 'plain'
  if (kind === 'refused') {
    stream.respond({ ':status': 400, 'content-type': 'application/json', 'x-amzn-errortype': 'BadRequestException' })
    return stream.end('{"Message":"not so"}')
  }
  stream.respond({ ':status': 200, 'content-type': 'application/vnd.amazon.eventstream', 'x-amzn-request-id': 'one' })
  stream.on('error', () => {})
  let held = Buffer.alloc(0)
  let count = 0
  stream.on('data', chunk => {
    held = Buffer.concat([held, chunk])
    while (held.length >= 4 && held.length >= held.readUInt32BE(0)) {
      const length = held.readUInt32BE(0)
      const { body } = codec.decode(held.subarray(0, length))
      held = held.subarray(length)
      if (body.length === 0) continue
      // The payload is a signed message that holds the event.
      const inner = codec.decode(body)
      if (kind === 'excepted' && count === 2) return stream.end(exception('LimitExceededException', 'enough'))
      if (inner.body.length > 0) stream.write(transcript(`${inner.body.length} bytes`, count++))
    }
  })
  stream.on('end', () => { if (!stream.destroyed) stream.end(transcript(`end after ${count}`, count)) })
}

export async function start ({ tls }) {
  const server = http2.createSecureServer(tls)
  server.on('stream', serve)
  await new Promise(resolve => { server.listen(0, '127.0.0.1', resolve) })
  return { ports: { tls: server.address().port }, control: {} }
}

async function * audio (sizes) { for (const size of sizes) yield { AudioEvent: { AudioChunk: Buffer.alloc(size, 1) } } }

export function cases ({ ports }) {
  const made = () => new TranscribeStreamingClient({
    region: 'eu-north-1', endpoint: `https://localhost:${ports.tls}`, credentials: { accessKeyId: 'key', secretAccessKey: 'secret' }, maxAttempts: 1,
    requestHandler: new NodeHttp2Handler({ requestTimeout: 10_000, sessionTimeout: 60_000 })
  })
  const failure = error => [error.name, error.$metadata?.httpStatusCode ?? null]
  const called = async (client, sizes, SessionId) => {
    const words = []
    try {
      const { TranscriptResultStream } = await client.send(new StartStreamTranscriptionCommand({ LanguageCode: 'en-US', MediaEncoding: 'pcm', MediaSampleRateHertz: 16_000, SessionId, AudioStream: audio(sizes) }))
      for await (const { TranscriptEvent } of TranscriptResultStream) words.push(TranscriptEvent.Transcript.Results[0].Alternatives[0].Transcript)
      return words
    } catch (error) {
      return [...words, failure(error)]
    }
  }
  const one = (...given) => async () => { const client = made(); try { return await called(client, ...given) } finally { client.destroy() } }
  return {
    'an event stream both ways': one([10, 200, 3000, 40_000]),
    'a hundred events': one(Array.from({ length: 100 }, (_, at) => at + 1)),
    'an exception in the stream': one([1, 2, 3, 4], 'excepted'),
    'a refusal': one([1], 'refused'),
    'ten streams at once': async () => { const client = made(); try { return await Promise.all(Array.from({ length: 10 }, (_, at) => called(client, [at + 1, at + 2]))) } finally { client.destroy() } }
  }
}
