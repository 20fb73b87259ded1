// The listener that a server is made with, where it is no function: an application of Koa or Hono is an object.
import assert from 'node:assert/strict'
import http from 'node:http'
import http2 from 'node:http2'
import https from 'node:https'
import test from 'node:test'
import { createSecureServer, createServer } from 'trunkline'
import { cert, key } from '../support/certificates/certificate.mjs'

for (const [name, value] of Object.entries({ 'an application that is no function': { callback () {} }, 'a text': 'x', true: true, undefined, null: null, 'an empty text': '' })) {
  test(`${name} as the listener of a server has the outcome that it has with node's own`, () => {
    const outcome = make => {
      try {
        return make().listenerCount('request')
      } catch ({ code, message }) {
        return { code, message }
      }
    }
    assert.deepEqual(outcome(() => createServer({ requests: 'http' }, value)), outcome(() => http.createServer({}, value)))
    assert.deepEqual(outcome(() => createSecureServer({ cert, key, requests: 'http' }, value)), outcome(() => https.createServer({ cert, key }, value)))
    assert.deepEqual(outcome(() => createServer({}, value)), outcome(() => http2.createServer({}, value)))
  })
}
