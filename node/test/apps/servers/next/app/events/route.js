export const dynamic = 'force-dynamic'
export function GET () {
  const stream = new ReadableStream({
    start (controller) {
      for (const data of [1, 2, 3]) controller.enqueue(new TextEncoder().encode(`data: ${data}\n\n`))
      controller.close()
    }
  })
  return new Response(stream, { headers: { 'content-type': 'text/event-stream' } })
}
