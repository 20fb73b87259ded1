export const dynamic = 'force-dynamic'
export default async function Page ({ params, searchParams }) {
  const { slug } = await params
  const { q } = await searchParams
  return <p>slug {slug} {q}</p>
}
