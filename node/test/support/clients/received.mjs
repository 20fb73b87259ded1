// The received bytes of a stream, until a condition is true: how bytes are cut into pieces is not
// promised.

/** The bytes of a stream from now on, as soon as `isThere` says that they are enough. */
export function received (stream, isThere) {
  return new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0)
    const settle = (how, what) => {
      stream.off('data', onData).off('close', onClose).off('error', onError)
      how(what)
    }
    const onData = piece => {
      bytes = Buffer.concat([bytes, piece])
      if (isThere(bytes)) settle(resolve, bytes)
    }
    const onClose = () => { settle(reject, new Error(`the stream ended behind ${bytes.length} bytes: ${bytes.toString('latin1')}`)) }
    const onError = error => { settle(reject, error) }
    stream.on('data', onData).on('close', onClose).on('error', onError)
  })
}

/** As `received`, of a text. */
export const receivedText = async (stream, text) => String(await received(stream, bytes => bytes.length >= Buffer.byteLength(text)))
