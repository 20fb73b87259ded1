// Declarations of Node.js API that its types leave out. None is published.

import type { Intake } from './http2/stream/intake'

declare global {
  interface Buffer {
    latin1Slice: (from: number, to: number) => string
    utf8Slice: (from: number, to: number) => string
    latin1Write: (text: string, at: number) => number
    utf8Write: (text: string, at: number) => number
  }
}

declare module 'node:stream' {
  interface Readable { _readableState: { destroyed: boolean } }
  interface Writable { _writableState: { ending: boolean; bufferedRequestCount: number } }
  interface Duplex { _readableState: { destroyed: boolean }; _writableState: { ending: boolean; bufferedRequestCount: number } }
}

declare module 'node:http' {
  interface IncomingMessage { _carrier: { intake: Intake } }
}
