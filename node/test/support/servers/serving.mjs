// Servers that end with their test, however it ends.
import { serve } from 'trunkline'

/** `serve` on this machine alone. */
export function serveFor (t, options) {
  const server = serve({ hostname: '127.0.0.1', ...options })
  t.after(() => server.destroy())
  return server
}
