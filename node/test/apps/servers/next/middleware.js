import { NextResponse } from 'next/server'

export function middleware (request) {
  if (request.nextUrl.pathname === '/guarded') return NextResponse.json({ guarded: request.nextUrl.pathname }, { status: 401 })
  const response = NextResponse.next()
  response.headers.set('x-middleware', 'yes')
  response.cookies.set('seen', 'yes')
  return response
}

export const config = { matcher: ['/guarded', '/route', '/old'] }
