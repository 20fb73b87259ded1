export default defineEventHandler(event => {
  let count = 0
  setHeader(event, 'content-type', 'text/event-stream')
  return sendStream(event, new ReadableStream({
    pull (controller) { ++count > 3 ? controller.close() : controller.enqueue(new TextEncoder().encode(`data: ${count}\n\n`)) }
  }))
})
