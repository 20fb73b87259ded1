// `textStream()` of Node.js 26's bodies, for every line.

export interface Readable { readonly body: ReadableStream<Uint8Array> | null; readonly bodyUsed: boolean }

/** The body as pieces of text (the Fetch standard's `Body.textStream`). */
export function textStreamOf ({ body, bodyUsed }: Readable): ReadableStream<string> {
  if (bodyUsed || body?.locked === true) throw new TypeError('the body was used already')
  if (body === null) return new ReadableStream({ start (controller) { controller.close() } })
  return body.pipeThrough<string>(new TextDecoderStream())
}
