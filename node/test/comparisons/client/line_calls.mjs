// One request of undici 6, 7 and 8, by a method of a Client and by the calls of undici itself over an Agent.

const FIELDS = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding'])
const fieldsOf = headers => JSON.stringify(Object.entries(headers).filter(([name]) => !FIELDS.has(name)).sort())
const short = text => text.length > 80 ? `<${text.length}>` : text
/** The name, the code and the words of an error; the number of a port is chance. */
export const known = error => [error?.name, error?.code ?? 'without a code', error?.message?.replace(/:\d{4,5}\b/g, ':PORT')].join(' ')

async function answered (log, asked) {
  try {
    const { statusCode, headers, body, trailers } = await asked
    log('head', statusCode, short(fieldsOf(headers)))
    log('body', short(await body.text()), fieldsOf(trailers))
  } catch (error) {
    log('failed', known(error))
  }
}

/** `(module, stage, url, options, log)`; `of` are options of the dispatcher. */
export const CALLS = {
  'request of a Client' (module, t, url, options, log, of = {}) {
    return answered(log, t.own(new module.Client(url, of)).request(options))
  },
  "undici's request over an Agent" (module, t, url, options, log, of = {}) {
    const { path, ...rest } = options
    return answered(log, module.top.request(`${url}${path}`, { ...rest, dispatcher: t.own(new module.Agent(of)) }))
  }
}
