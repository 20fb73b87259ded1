export function loader () {
  const events = new ReadableStream({
    async start (controller) {
      for (let count = 0; count < 3; count++) {
        controller.enqueue(new TextEncoder().encode(`data: ${count}\n\n`))
        await new Promise(resolve => { setTimeout(resolve, 5) })
      }
      controller.close()
    }
  })
  return new Response(events, { headers: { 'content-type': 'text/event-stream' } })
}
