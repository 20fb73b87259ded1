// Detects listeners that need requests of node:http on every version: frameworks that replace a
// request's prototype, such as Express. On a request of node:http2 they hang.

import http from 'node:http'

/** Whether `listener` is an application whose requests inherit from node:http's. */
export function isOfHttp1 (listener: unknown): boolean {
  if (typeof listener !== 'function') return false
  const { request } = listener as { request?: unknown }
  return typeof request === 'object' && request !== null && request instanceof http.IncomingMessage
}
