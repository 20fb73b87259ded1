// A server holds the process, until it is closed or let go of.
import { Response, serve } from 'trunkline'

const fetch = () => new Response('')
serve({ hostname: '127.0.0.1', fetch }).unref()
const server = serve({ hostname: '127.0.0.1', fetch })
setTimeout(async () => {
  await server.close()
  console.log('closed')
}, 300).unref()
