export * from 'node:http2'
import http2 from 'node:http2'
export default http2
