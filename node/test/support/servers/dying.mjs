// A client in a process of its own: writes what it is given to a port of this machine, says so, and waits to
// be killed. Run by transfers/ends.test.mjs.
import { connecting } from './wire.mjs'

const [port, protocol, security, bytes] = process.argv.slice(2)
const { socket } = await connecting(Number(port), security === 'tls', protocol)
socket.resume()
// The end of its parent ends it too.
process.stdin.resume().on('end', () => { process.exit() })
socket.write(Buffer.from(bytes, 'hex'), () => { process.stdout.write('played\n') })
