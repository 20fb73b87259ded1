// OpenTelemetry's own instrumentation of undici, unchanged, over our dispatchers.
import assert from 'node:assert/strict'
import test from 'node:test'
import { Agent, request } from 'trunkline'
import { cert } from '../../support/certificates/certificate.mjs'
import { h2 } from '../../support/servers/servers.mjs'

const packages = await Promise.all(['api', 'instrumentation-undici', 'sdk-trace-base'].map(name => import(`@opentelemetry/${name}`)))
  // A folder that was installed before these tests asked for them.
  .catch(error => { if (error.code === 'ERR_MODULE_NOT_FOUND') return null; throw error })
const skip = packages === null && 'its packages are missing: run npm install in this folder'

test("OpenTelemetry's spans have the request and its answer, and the server gets their context", { skip }, async () => {
  const [{ propagation, SpanKind, SpanStatusCode }, { UndiciInstrumentation }, tracing] = packages
  const { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } = tracing
  const exporter = new InMemorySpanExporter()
  const instrumentation = new UndiciInstrumentation()
  instrumentation.setTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  propagation.setGlobalPropagator({
    inject: (context, carrier, setter) => { setter.set(carrier, 'x-context', 'passed on') },
    extract: context => context,
    fields: () => ['x-context']
  })
  instrumentation.enable()
  const server = await h2((request, response) => {
    response.statusCode = 404
    response.end(request.headers['x-context'])
  })
  const dispatcher = new Agent({ connect: { ca: cert } })

  const answer = await request(`${server.url}/path?q=1`, { dispatcher })
  assert.equal(await answer.body.text(), 'passed on')
  await server.close()
  const error = await request(server.url, { dispatcher }).then(() => null, error => error)
  instrumentation.disable()
  await dispatcher.close()

  const [found, failed, ...others] = exporter.getFinishedSpans()
  assert.deepEqual(others, [], 'a span per request')
  assert.deepEqual([found.name, found.kind], ['GET', SpanKind.CLIENT])
  assert.equal(found.attributes['url.full'], `${server.url}/path?q=1`)
  assert.equal(found.attributes['http.response.status_code'], 404)
  assert.equal(found.attributes['network.peer.address'], '127.0.0.1')
  assert.equal(found.attributes['network.peer.port'], Number(new URL(server.url).port))
  assert.equal(failed.status.code, SpanStatusCode.ERROR)
  assert.equal(failed.attributes['error.type'], error.code)
})
