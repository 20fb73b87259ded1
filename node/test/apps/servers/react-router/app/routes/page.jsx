export function loader ({ request }) { return { query: new URL(request.url).search, version: request.headers.get('x-row') } }
export function headers () { return { 'x-page': 'yes' } }
export default function Page ({ loaderData }) { return <h1>hello {loaderData.query}</h1> }
