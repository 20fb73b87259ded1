import { Outlet, Scripts } from 'react-router'

export default function Root () {
  return <html lang='en'><head><title>row</title></head><body><Outlet /><Scripts /></body></html>
}
export function ErrorBoundary ({ error }) {
  return <p>failed: {error?.status ?? 'without a status'}</p>
}
