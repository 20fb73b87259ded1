// This package's declarations do not change those of others.
import { Readable } from 'node:stream'
import 'trunkline'

export class Own extends Readable {
  private readonly _readableState_ = 1
  get state (): number { return this._readableState_ }
}
export class Plain { private latin1Slice = 1; get value (): number { return this.latin1Slice } }
// @ts-expect-error: a Buffer has no such method for users of the package
export const slice: unknown = Buffer.alloc(0).latin1Slice(0, 1)
