export const load = ({ url, cookies, setHeaders }) => {
  cookies.set('seen', 'yes', { path: '/' })
  setHeaders({ 'x-loaded': 'yes' })
  return { q: url.searchParams.get('q'), later: Promise.resolve('later') }
}
