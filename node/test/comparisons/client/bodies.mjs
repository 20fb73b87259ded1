// Each kind of body that `fetch` takes; made anew for each program.
import { Readable } from 'node:stream'

const TEXT = 'the bytes of a body: \u00e9'
async function * pieces () { yield Buffer.from('one '); yield Buffer.from('two') }

export const BODIES = {
  nothing: () => undefined,
  null: () => null,
  'a text': () => TEXT,
  'an empty text': () => '',
  'a number': () => 12,
  'an object': () => ({ a: 1 }),
  'a Buffer': () => Buffer.from(TEXT),
  'an empty Buffer': () => Buffer.alloc(0),
  'a Uint8Array': () => new TextEncoder().encode(TEXT),
  'an ArrayBuffer': () => new TextEncoder().encode(TEXT).buffer,
  'a DataView': () => new DataView(new TextEncoder().encode(TEXT).buffer, 4, 8),
  'a Blob': () => new Blob([TEXT]),
  'a Blob with a type': () => new Blob([TEXT], { type: 'text/html;charset=utf-8' }),
  'a URLSearchParams': () => new URLSearchParams([['a', 'b c'], ['d', TEXT]]),
  'a FormData': ({ FormData }) => {
    const form = new FormData()
    form.set('a', 'b')
    form.append('c"d', 'line\nend')
    form.append('file', new Blob(['of a file'], { type: 'text/plain' }), 'name "of" it.txt')
    return form
  },
  'an empty FormData': ({ FormData }) => new FormData(),
  'a ReadableStream': () => new ReadableStream({ start (controller) { controller.enqueue(Buffer.from('one ')); controller.enqueue(Buffer.from('two')); controller.close() } }),
  'a ReadableStream of texts': () => new ReadableStream({ start (controller) { controller.enqueue('one'); controller.close() } }),
  'a ReadableStream that fails': () => new ReadableStream({ pull (controller) { controller.error(new Error('of the source')) } }),
  'an empty ReadableStream': () => new ReadableStream({ start (controller) { controller.close() } }),
  'a Readable': () => Readable.from([Buffer.from('one '), Buffer.from('two')]),
  'an async iterable': () => pieces()
}
