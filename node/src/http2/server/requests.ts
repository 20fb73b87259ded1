// Requests of HTTP/2 and HTTP/3 as node:http2's servers emit them: streams of the core API, requests and responses of the compatible
// one, or both of the same exchange.

import { Http2ServerRequest as NodeRequest, Http2ServerResponse as NodeResponse } from 'node:http2'
import type { Exchange } from '../../server/exchange'
import { showStream } from '../channels'
import { reportUpgrade } from '../compat/http1/upgrade'
import { Http2ServerRequest } from '../compat/request'
import { Http2ServerResponse } from '../compat/response'
import type { ServerHttp2Session } from '../connection/session'
import { streamSocket } from '../connection/socket'
import { ServerHttp2Stream } from '../stream/stream'
import type { CompatServerOptions, OwnServer } from './compat_options'

/** A class of a user's in place of ours: it is made over the stream as node:http2 makes its own. */
type RequestClass = new (stream: unknown, headers: unknown, options: undefined, raw: string[]) => { readable: boolean }
type ResponseClass = new (stream: unknown) => object

/** Events of requests of HTTP/1.1. */
const OF_HTTP1 = ['request', 'connect', 'upgrade', 'checkContinue', 'checkExpectation']
/** Events of the compatible API. */
const OF_COMPATIBLE = ['request', 'connect', 'checkContinue', 'checkExpectation']

/** The listener by which a server emits its streams as requests, too. */
const compatible = new WeakMap<OwnServer, (...given: any[]) => void>()

/** As node:http2, whose compatible API is a listener of `stream` that is there from the first of its own on: listeners are called in
 * their order. */
export function reportCompatibleToo (server: OwnServer, options: CompatServerOptions): void {
  const listener = (stream: unknown): void => { if (stream instanceof ServerHttp2Stream && isCompatible(server)) reportCompatible(server, options, stream) }
  const begin = (event: string): void => {
    if (!OF_COMPATIBLE.includes(event)) return
    server.off('newListener', begin)
    compatible.set(server, listener)
    server.on('stream', listener)
  }
  server.on('newListener', begin)
}

const isCompatible = (server: OwnServer): boolean => OF_COMPATIBLE.some(event => server.listenerCount(event) > 0)

/** Listeners for streams that are the program's. */
function coreListeners (server: OwnServer): number {
  const [count, own] = [server.listenerCount('stream'), compatible.get(server)]
  return own === undefined ? count : count - server.listenerCount('stream', own)
}

/** Emits an exchange of HTTP/2 or HTTP/3 on `server` as a stream, as a request, or both. */
export function reportStream (server: OwnServer, options: CompatServerOptions, exchange: Exchange): void {
  const session = exchange.connection.owner as ServerHttp2Session
  if (exchange.protocol !== '' && !wantsTunnels(server, session) && reportUpgrade(server, exchange, options.http1)) return
  const stream = new ServerHttp2Stream(session, exchange)
  session.$add(stream)
  showStream(stream)
  const flags = exchange.hasBody ? 4 : 5
  const [ofServer, ofSession] = [coreListeners(server) > 0, session.listenerCount('stream') > 0]
  // A listener that was taken away with the others reports nothing.
  const asRequest = server.listenerCount('stream') > 0 && isCompatible(server)
  if ((ofServer || ofSession) && asRequest && exchange.hasBody) stream.$intake.share()
  if (ofServer) server.emit('stream', stream, stream.$headers, flags, stream.$rawHeaders)
  else if (asRequest) reportCompatible(server, options, stream)
  if (ofSession) session.emit('stream', stream, stream.$headers, flags, stream.$rawHeaders)
  if (!ofServer && !asRequest && !ofSession) stream.$become()
}

/** Whether a request of HTTP/1.1 would never be answered: the program listens to streams alone. */
export const lacksHttp1 = (server: OwnServer): boolean => OF_HTTP1.every(event => server.listenerCount(event) === 0)

/** Whether a listener handles an extended CONNECT as node:http2 does. */
function wantsTunnels (server: OwnServer, session: ServerHttp2Session): boolean {
  return coreListeners(server) + server.listenerCount('connect') + session.listenerCount('stream') > 0
}

function reportCompatible (server: OwnServer, options: CompatServerOptions, stream: ServerHttp2Stream): void {
  const { $exchange: exchange } = stream
  const [request, response] = pairOf(options, stream)
  if (exchange.method === 'CONNECT') {
    if (!server.emit('connect', request, response)) refuse(response, 405)
    return
  }
  const expected = exchange.field('expect')
  if (expected === undefined) server.emit('request', request, response)
  else if (expected !== '100-continue') {
    if (!server.emit('checkExpectation', request, response)) refuse(response, 417)
  } else if (!server.emit('checkContinue', request, response)) {
    response.writeContinue()
    server.emit('request', request, response)
  }
}

function pairOf ({ Http2ServerRequest: ownRequest, Http2ServerResponse: ownResponse }: CompatServerOptions, stream: ServerHttp2Stream): [Http2ServerRequest, Http2ServerResponse] {
  const isOwn = ownRequest !== undefined || ownResponse !== undefined
  if (!isOwn) {
    const request = new Http2ServerRequest(stream)
    return [request, new Http2ServerResponse(stream, request)]
  }
  // Both of node's kind: they find each other by symbols of node's own.
  const request = new ((ownRequest ?? NodeRequest) as RequestClass)(stream, stream.$headers, undefined, stream.$rawHeaders)
  const response = new ((ownResponse ?? NodeResponse) as ResponseClass)(stream)
  putSocket(stream, request, response)
  return [request, response] as unknown as [Http2ServerRequest, Http2ServerResponse]
}

/** The symbol by which the classes of node:http2 find the socket of a stream. */
let ofSocket: symbol | undefined

/** Gives them the socket of ours: the one that they make else is made of members of node's sessions. */
function putSocket (stream: ServerHttp2Stream, request: { readable: boolean }, response: object): void {
  if (ofSocket === undefined) {
    if (request instanceof NodeRequest) Reflect.get(NodeRequest.prototype, 'socket', request)
    else if (response instanceof NodeResponse) Reflect.get(NodeResponse.prototype, 'socket', response)
    ofSocket = Object.getOwnPropertySymbols(stream).find(({ description }) => description === 'proxySocket')
  }
  if (ofSocket !== undefined) Object.defineProperty(stream, ofSocket, { value: streamSocket(stream, () => request.readable), writable: true, configurable: true })
}

function refuse (response: Http2ServerResponse, status: number): void {
  response.statusCode = status
  response.end()
}
