// Parts of node:http on which its form of a server stands: classes, options, and private members, which no other file declares.

import http, { type IncomingMessage, type ServerResponse } from 'node:http'

/** The exchange of a response, as its socket needs it. */
export interface PendingAnswer {
  /** The request, until it is whole and has been answered. */
  readonly incoming: IncomingMessage | null
  /** Bytes of the body that wait here or on their way. */
  readonly unsent: number
  /** Bytes of `unsent` that the socket itself does not have. */
  readonly awaited: number
  /** Before its socket is destroyed: sends a head that was asked for, and calls back the writers of an answer that went as one message. */
  settle: () => void
  /** Ends the request of an answer that is not whole, whose socket closes. */
  abandon: () => void
  /** From here on the bytes written to the socket are the answer, unless there is one. */
  answerByHand: () => void
}

/** The member of a response that has its exchange. */
export const carried = Symbol('carrier')

/** Private members of node:http, as far as they are needed here. */
export interface Request extends IncomingMessage {
  _consuming: boolean
  _dumped: boolean
  _dump: () => void
  /** From Node 24 on. */
  _dumpAndCloseReadable?: () => void
  joinDuplicateHeaders: boolean
  _addHeaderLines: (raw: string[], count: number) => void
  _readableState: { destroyed: boolean; readingMore: boolean; resumeScheduled: boolean }
}
export interface Response extends ServerResponse {
  _header: string | null
  _headerSent: boolean
  _hasBody: boolean
  _last: boolean
  _trailer: string
  _closed: boolean
  _expect_continue: boolean
  _keepAliveTimeout: number
  _maxRequestsPerSocket: number
  maxRequestsOnConnectionReached: boolean
  _storeHeader: (first: string, headers: unknown) => void
  _send: (data: string | Buffer, encoding?: BufferEncoding | null, done?: (() => void) | null) => boolean
  _writeRaw: (data: string, encoding: unknown, done?: () => void) => boolean
  _finish: () => void
  /** Undefined: it is a response that a program made and assigned to its socket. */
  [carried]?: PendingAnswer
}

/** The classes of requests and responses, by the options of node:http. */
export interface Http1 {
  IncomingMessage: typeof IncomingMessage
  ServerResponse: typeof ServerResponse
  /** A field that comes again is joined to the one before, also where node:http keeps the first alone. */
  joinDuplicateHeaders?: boolean
  /** A request whose head says that it has no body has ended before it is emitted, and emits neither its end nor its close. */
  optimizeEmptyRequests?: boolean
  /** A body for a response that has none is an error. */
  rejectNonStandardBodyWrites?: boolean
  /** Bytes of a target with the names and values of its fields from which on a request is refused; undefined: as the engine has it. */
  headBytesMax?: number | undefined
  /** Names of fields whose values go in one line, and under which symbol node:http keeps them. */
  unique?: { symbol: symbol; names: unknown } | undefined
}

/** The server, which emits the requests. */
export interface EndNotifier {
  /** How long a request may take to be whole, in ms; 0 and undefined: for ever. */
  requestTimeout?: number
  /** Whether a client that has ended its side of its connection waits for answers. */
  httpAllowHalfOpen?: boolean
  /** Ms that a connection without a request stays open, as announced to clients; 0: for ever. */
  keepAliveTimeout?: number
  /** Ms beyond the announced `keepAliveTimeout`. */
  keepAliveTimeoutBuffer?: number
  /** Whether a request that asks for an upgrade gets it; undefined: where there is a listener. */
  shouldUpgradeCallback?: (request: IncomingMessage) => boolean
  /** Ms without a sign of life on a connection with a request; 0: for ever. */
  timeout: number
  /** How many requests a connection of HTTP/1.1 may have; 0 and undefined: any number. */
  maxRequestsPerSocket?: number
  /** The most fields of a request that are passed on; 0 and null: all. */
  maxHeadersCount?: number | null
  emit: (event: string, ...args: unknown[]) => boolean
  listenerCount: (event: string) => number
}

/** Ms beyond an announced `keepAliveTimeout` where the server has no member for them: Node.js 20 has none. A request that is under way as the
 * announced time ends is served. */
const KEEP_ALIVE_BUFFER_MS = 1000
/** Ms that a connection without a request stays open. */
export const keptFor = (announced: number, buffer: number | undefined): number => Number(announced) + Number(buffer ?? KEEP_ALIVE_BUFFER_MS)

export const originals = http.ServerResponse.prototype as unknown as Response
/** A member that node:http has under a symbol of its own. */
export const symbolOf = (made: object, name: string): symbol | undefined => Object.getOwnPropertySymbols(made).find(symbol => symbol.description === name)
const sample = new http.ServerResponse(new http.IncomingMessage(null as never))
/** Whether Node.js writes names and values of early hints as they are given, line breaks and all: it does before 24. */
export const takesBadHints = (() => {
  try {
    sample.writeEarlyHints({ link: '</>; rel=preload', 'a b': '' })
    return true
  } catch {
    return false
  }
})()
/** The method of a request, from Node 24 on, by which the end of its connection is none of its `signal` any more. */
export const DETACH_SIGNAL = symbolOf(http.IncomingMessage.prototype, 'kDetachAbortSignal')
/** Says that a writer shall wait. */
export const NEEDS_DRAIN = symbolOf(sample, 'kNeedDrain')
