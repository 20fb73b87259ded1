// A server on the third descriptor of its process; says what came of it.
const { default: module, http2 = module } = await import(process.argv[2])

const server = http2.createServer()
server.on('error', ({ code, syscall, address, port }) => { console.log('error', code, syscall, address, port) })
server.listen({ fd: 3 }, () => {
  console.log('listening', server.address())
  server.close(() => { console.log('closed', server.address()) })
})
