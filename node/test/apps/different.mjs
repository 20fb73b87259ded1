// Differences that have a reason. The table names them by `id`; a difference without one makes the run fail.

const any = /(?:)/
const ANY = { row: any, column: any, request: any, path: any }

export const known = [
  { ...ANY, id: 'K1', reason: "Koa's body of 404 is the code on HTTP/2 and later, which have no reason phrase, and the phrase on HTTP/1.1.", row: /^koa$/, column: /h[23]$/, request: /nowhere/, path: /body|content-length/ },
  { ...ANY, id: 'H1', reason: '@hono/node-server gives an answer without content-type one of its own, and spells that of a text in its way; through `serve` the answer is the Response as it is.', row: /^hono$/, column: /^serve/, path: /content-type/ },
  { ...ANY, id: 'S1', reason: "h3's adapter for Node.js spells the content-type of a text in its way; through `serve` the answer is the Response as it is.", row: /^h3$/, column: /^serve/, path: /content-type/ },
  { ...ANY, id: 'S2', reason: "srvx's adapter for Node.js leaves the content-length of HEAD out; through `serve` it is that of the answer to GET.", row: /^srvx$/, column: /^serve/, request: /HEAD/, path: /content-length/ },
  { ...ANY, id: 'P1', reason: 'body-parser looks for a content-length or transfer-encoding, which requests over HTTP/2 need not have: on node:http2 too it finds no body there.', row: /^polka$/, column: /^compatible h2$/, request: /POST/ },
  { ...ANY, id: 'G1', reason: 'A head over the limit of the server resets its stream with ENHANCE_YOUR_CALM, which is RESOURCE_EXHAUSTED; node:http2 ends the call as INTERNAL.', row: /^grpc-js/, request: /metadata over the limit of heads/ },
  { ...ANY, id: 'G2', reason: 'A malformed frame ends the session and its calls; those of node:http2 wait for their deadline.', row: /^grpc-js/, column: /client|both/, request: /a frame that is malformed/ },
  { ...ANY, id: 'G3', reason: "A server lets 100 streams of a connection be open, one of node:http2 any number: a client of node:http2 that holds 10,000 calls back for it passes its own maxSessionMemory, and resets calls.", row: /^grpc-js-1\.1[23]/, column: /server/, request: /10,000 calls at once/ },
  { ...ANY, id: 'G4', reason: 'A server of grpc-js 1.12 closes a session whose peer does not answer pings with `close()`, which waits for its calls: for ever on node:http2, on ours until the connection is given up, about as long as a case has.', row: /^grpc-js-1\.12/, column: /server|both/, request: /found by pings of the server/ },
  { ...ANY, id: 'G5', reason: 'With node:http2 at both ends some of 500 calls of gRPC and gRPC-Web are reset with ENHANCE_YOUR_CALM; with either end ours all are answered.', row: /^connect-http2/, request: /500 at once/ }
]
