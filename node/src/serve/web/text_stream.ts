// `textStream()` of Node.js 26's bodies, on every Node.js version.

/** The body as pieces of text (the Fetch standard's `Body.textStream`). */
export function textStreamOf ({ body, bodyUsed }: { body: ReadableStream<Uint8Array> | null; bodyUsed: boolean }): ReadableStream<string> {
  if (bodyUsed || body?.locked === true) throw new TypeError('the body was used already')
  if (body === null) return new ReadableStream({ start (controller) { controller.close() } })
  return body.pipeThrough<string>(new TextDecoderStream())
}
