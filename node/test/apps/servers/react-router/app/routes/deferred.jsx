import { Suspense } from 'react'
import { Await } from 'react-router'

export function loader () { return { later: new Promise(resolve => { setTimeout(resolve, 20, 'later') }) } }
export default function Deferred ({ loaderData }) {
  return <Suspense fallback={<p>waits</p>}><Await resolve={loaderData.later}>{value => <p>{value}</p>}</Await></Suspense>
}
