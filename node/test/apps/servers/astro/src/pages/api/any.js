export const GET = ({ request, url }) => Response.json({ agent: request.headers.get('user-agent'), path: url.pathname + url.search })
export const POST = async ({ request }) => new Response(String((await request.arrayBuffer()).byteLength), { status: 201 })
