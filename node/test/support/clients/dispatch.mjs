// A request by plain `dispatch`, with either kind of handler, as a promise.

/** With a handler of undici 8. */
export function viaNew (dispatcher, options) {
  return new Promise((resolve, reject) => {
    const seen = { interim: [], chunks: [], events: [] }
    dispatcher.dispatch(options, {
      onRequestStart (controller) { seen.controller = controller; seen.events.push('start') },
      onResponseStart (controller, status, headers, statusText) {
        seen.events.push(status < 200 ? 'interim' : 'head')
        if (status < 200) return seen.interim.push({ status, headers })
        Object.assign(seen, { status, headers, statusText, rawHeaders: controller.rawHeaders })
      },
      onResponseData (controller, chunk) { seen.chunks.push(chunk); seen.events.push('data') },
      onResponseEnd (controller, trailers) {
        seen.events.push('end')
        resolve({ ...seen, trailers, body: Buffer.concat(seen.chunks) })
      },
      onResponseError (controller, error) { seen.events.push('error'); reject(Object.assign(error, { seen })) }
    })
  })
}

/** With a handler of undici 7 and older. */
export function viaOld (dispatcher, options) {
  return new Promise((resolve, reject) => {
    const seen = { interim: [], chunks: [], events: [] }
    dispatcher.dispatch(options, {
      onConnect (abort) { seen.abort = abort; seen.events.push('start') },
      onHeaders (status, rawHeaders, resume, statusText) {
        seen.events.push(status < 200 ? 'interim' : 'head')
        if (status < 200) return seen.interim.push({ status, rawHeaders })
        Object.assign(seen, { status, rawHeaders, statusText })
        return true
      },
      onData (chunk) { seen.chunks.push(chunk); seen.events.push('data'); return true },
      onComplete (rawTrailers) {
        seen.events.push('end')
        resolve({ ...seen, rawTrailers, body: Buffer.concat(seen.chunks) })
      },
      onError (error) { seen.events.push('error'); reject(Object.assign(error, { seen })) }
    })
  })
}
