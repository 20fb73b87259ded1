import { json } from '@sveltejs/kit'

export const GET = ({ request, url, getClientAddress }) => json({ agent: request.headers.get('user-agent'), path: url.pathname + url.search, address: getClientAddress() })
export const POST = async ({ request }) => new Response(String((await request.arrayBuffer()).byteLength), { status: 201 })
