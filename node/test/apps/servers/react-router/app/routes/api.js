export function loader ({ request }) { return Response.json({ query: new URL(request.url).search, agent: request.headers.get('user-agent') }) }
export async function action ({ request }) { return Response.json({ method: request.method, length: (await request.text()).length }) }
