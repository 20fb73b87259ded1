// The tests of requests and of connections over streams, with the engine on JavaScript's thread: dispatchers and
// servers without an option of their own go by the environment.
process.env.TRUNKLINE_ENGINE = 'inline'

for (const name of ['answers', 'calls', 'ends', 'heads', 'tunnels', 'uploads']) await import(`../requests/${name}.test.mjs`)
await import('../connections/streams.test.mjs')
