export async function GET (request) {
  return Response.json({ q: request.nextUrl.searchParams.get('q'), there: request.headers.get('x-there') }, { headers: { 'x-route': 'yes' } })
}

export async function POST (request) { return new Response(`got ${await request.text()}`, { status: 201 }) }
