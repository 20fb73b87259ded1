// The client of gRPC's interop suite on grpc-js. Each case throws where an answer is another than the suite says.
import assert from 'node:assert/strict'
import { Absent, grpc, TestService } from './service.mjs'

/** Bytes of the suite's streams. */
const REQUEST_SIZES = [27_182, 8, 1_828, 45_904]
const RESPONSE_SIZES = [31_415, 9, 2_653, 58_979]
/** Characters that a status must escape. */
const SPECIAL = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'
const GZIP = 2

const payload = size => ({ body: Buffer.alloc(size) })
const asking = (sizes, own = 0) => ({ responseParameters: sizes.map(size => ({ size })), payload: payload(own) })
const unary = (client, name, request, { metadata = new grpc.Metadata(), options = {} } = {}) => new Promise((resolve, reject) => {
  const heads = {}
  const call = client[name](request, metadata, options, (error, answer) => { if (error) reject(error); else heads.answer = answer })
  call.on('metadata', head => { heads.head = head })
  call.on('status', ({ code, metadata }) => { if (code === 0) setImmediate(() => { resolve({ ...heads, trailers: metadata }) }) })
})
/** All messages of a call and its status. */
const all = call => new Promise(resolve => {
  const got = { sizes: [] }
  call.on('metadata', head => { got.head = head })
  call.on('data', ({ payload }) => { got.sizes.push(payload.body.length) })
  call.on('error', () => {})
  call.on('status', status => { setImmediate(() => { resolve({ ...got, status }) }) })
})
const failed = promise => promise.then(() => assert.fail('there is no error'), error => error)

const statusCase = (code, details) => async client => {
  const responseStatus = { code, message: details }
  const one = await failed(unary(client, 'unaryCall', { responseStatus }))
  assert.deepEqual([one.code, one.details], [code, details])
  const call = client.fullDuplexCall()
  const whole = all(call)
  call.write({ responseStatus })
  call.end()
  const { status } = await whole
  assert.deepEqual([status.code, status.details], [code, details])
}

export const cases = {
  empty_unary: async client => { assert.deepEqual((await unary(client, 'emptyCall', {})).answer, {}) },
  large_unary: async client => {
    const { answer } = await unary(client, 'unaryCall', { responseSize: 314_159, payload: payload(271_828) })
    assert.equal(answer.payload.body.length, 314_159)
  },
  client_streaming: client => new Promise((resolve, reject) => {
    const call = client.streamingInputCall((error, answer) => {
      if (error) return reject(error)
      answer.aggregatedPayloadSize === 74_922 ? resolve() : reject(new Error(`${answer.aggregatedPayloadSize} bytes`))
    })
    for (const size of REQUEST_SIZES) call.write({ payload: payload(size) })
    call.end()
  }),
  server_streaming: async client => { assert.deepEqual((await all(client.streamingOutputCall(asking(RESPONSE_SIZES)))).sizes, RESPONSE_SIZES) },
  ping_pong: async client => {
    const call = client.fullDuplexCall()
    const whole = all(call)
    let at = 0
    const next = () => { at < 4 ? call.write(asking([RESPONSE_SIZES[at]], REQUEST_SIZES[at++])) : call.end() }
    call.on('data', next)
    next()
    const { sizes, status } = await whole
    assert.deepEqual([sizes, status.code], [RESPONSE_SIZES, 0])
  },
  empty_stream: async client => {
    const call = client.fullDuplexCall()
    const whole = all(call)
    call.end()
    const { sizes, status } = await whole
    assert.deepEqual([sizes, status.code], [[], 0])
  },
  timeout_on_sleeping_server: async client => {
    const call = client.fullDuplexCall(new grpc.Metadata(), { deadline: Date.now() + 1 })
    const whole = all(call)
    call.write(asking([], 27_182))
    assert.equal((await whole).status.code, grpc.status.DEADLINE_EXCEEDED)
  },
  cancel_after_begin: client => new Promise((resolve, reject) => {
    const call = client.streamingInputCall(error => { error?.code === grpc.status.CANCELLED ? resolve() : reject(error ?? new Error('there is no error')) })
    call.cancel()
  }),
  cancel_after_first_response: async client => {
    const call = client.fullDuplexCall()
    const whole = all(call)
    call.on('data', () => { call.cancel() })
    call.write(asking([RESPONSE_SIZES[0]], REQUEST_SIZES[0]))
    const { sizes, status } = await whole
    assert.deepEqual([sizes, status.code], [[RESPONSE_SIZES[0]], grpc.status.CANCELLED])
  },
  status_code_and_message: statusCase(2, 'test status message'),
  special_status_message: statusCase(2, SPECIAL),
  custom_metadata: async client => {
    const metadata = new grpc.Metadata()
    const trailing = Buffer.from([0xab, 0xab, 0xab])
    metadata.set('x-grpc-test-echo-initial', 'test_initial_metadata_value')
    metadata.set('x-grpc-test-echo-trailing-bin', trailing)
    const one = await unary(client, 'unaryCall', { responseSize: 1, payload: payload(1) }, { metadata })
    const call = client.fullDuplexCall(metadata)
    const whole = all(call)
    call.write(asking([1], 1))
    call.end()
    const { head, status } = await whole
    for (const got of [one, { head, trailers: status.metadata }]) {
      assert.deepEqual(got.head.get('x-grpc-test-echo-initial'), ['test_initial_metadata_value'])
      assert.deepEqual(got.trailers.get('x-grpc-test-echo-trailing-bin'), [trailing])
    }
  },
  unimplemented_method: async client => {
    const error = await failed(new Promise((resolve, reject) => {
      client.makeUnaryRequest('/grpc.testing.TestService/UnimplementedCall', Buffer.from, bytes => bytes, Buffer.alloc(0), error => { error ? reject(error) : resolve() })
    }))
    assert.equal(error.code, grpc.status.UNIMPLEMENTED)
  },
  unimplemented_service: async (client, open) => {
    const other = open(Absent)
    const error = await failed(unary(other, 'unimplementedCall', {}))
    other.close()
    assert.equal(error.code, grpc.status.UNIMPLEMENTED)
  }
}

/** Runs a case at a port of 127.0.0.1, over TLS where a certificate is given. */
export async function call (name, port, { cert, isPacked = false } = {}) {
  const credentials = cert === undefined ? grpc.credentials.createInsecure() : grpc.credentials.createSsl(Buffer.from(cert))
  const options = { 'grpc.use_local_subchannel_pool': 1, ...isPacked ? { 'grpc.default_compression_algorithm': GZIP } : {} }
  const open = Service => new Service(`localhost:${port}`, credentials, options)
  const client = open(TestService)
  try {
    await cases[name](client, open)
    return 'passed'
  } finally {
    client.close()
  }
}
