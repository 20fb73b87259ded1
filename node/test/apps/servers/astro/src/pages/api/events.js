export const GET = () => {
  let count = 0
  return new Response(new ReadableStream({
    pull (controller) { ++count > 3 ? controller.close() : controller.enqueue(`data: ${count}\n\n`) }
  }).pipeThrough(new TextEncoderStream()), { headers: { 'content-type': 'text/event-stream' } })
}
