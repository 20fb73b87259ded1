// The chunked coding of HTTP/1.1, as programs write it by hand.

/** Takes the bodies of chunks out of bytes (RFC 9112 section 7.1). */
export class Chunks {
  private line = ''
  /** Bytes of the chunk that are to come, and its line end behind them. */
  private left = 0
  isOver = false

  /** Throws where the bytes are no chunks. */
  take (bytes: Buffer, give: (piece: Buffer) => void): void {
    for (let at = 0; at < bytes.length && !this.isOver;) {
      if (this.left > 0) {
        const piece = bytes.subarray(at, at + this.left)
        this.left -= piece.length
        at += piece.length
        give(piece)
        continue
      }
      const end = bytes.indexOf('\n', at)
      this.line += bytes.toString('latin1', at, end === -1 ? bytes.length : end)
      at = end === -1 ? bytes.length : end + 1
      if (end === -1) continue
      const size = this.line.trim()
      this.line = ''
      // The line end behind a chunk.
      if (size === '') continue
      this.left = /^[\da-f]{1,8}\s*(;|$)/i.test(size) ? Number.parseInt(size, 16) : Number.NaN
      if (Number.isNaN(this.left)) throw new TypeError(`the size of a chunk is ${JSON.stringify(size)}; it must be a hexadecimal number`)
      this.isOver = this.left === 0
    }
  }
}
