// Programs that say something else with the dispatchers of this package than with undici 8, and why.

export const different = {
  'tunnel: upgrade: what is opened': 'the status is said too',
  'tunnel: connect: an answer that opens nothing': 'only a 2xx opens a tunnel (RFC 9110 section 9.3.6)',
  'tunnel: what a server sends for an upgrade': 'a CONNECT that becomes a tunnel does not ask for the end of its connection'
}
