// The development response to a handler's failure: the error and its stack.

import { isError } from '../errors/is_error'

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

function escaped (text: string): string { return text.replace(/[&<>"']/g, character => ENTITIES[character]!) }

function textOf (error: unknown): string {
  try {
    return isError(error) ? error.stack ?? String(error) : String(error)
  } catch {
    return 'an error that cannot be written as text'
  }
}

/** A page for browsers, text for others. `accept`: what the request takes. Scripts in it do not run, and it is not kept. */
export function errorPage (error: unknown, accept: string | undefined): { fields: string; body: string } {
  const text = textOf(error)
  const isPage = accept?.includes('text/html') === true
  const fields = [
    'content-type', isPage ? 'text/html;charset=utf-8' : 'text/plain;charset=utf-8',
    'content-security-policy', "default-src 'none';style-src 'unsafe-inline'", 'cache-control', 'no-store'
  ].join('\0')
  if (!isPage) return { fields, body: `${text}\n` }
  const [first = '', ...rest] = escaped(text).split('\n')
  const body = `<!doctype html><meta charset="utf-8"><title>${first}</title><body style="font:16px/1.5 sans-serif;margin:3em">` +
    `<h1 style="font-size:1.3em">${first}</h1><pre>${rest.join('\n')}</pre><p>This page is shown because <code>development</code> is on.</p>\n`
  return { fields, body }
}
