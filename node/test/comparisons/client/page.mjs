// Helpers of the programs by page of undici's documentation: each runs on the versions that its table names.
import { cert } from './stage.mjs'

export const VERSIONS = ['h1', 'h2']

/** Fields of a head that say nothing of the program. */
const USUAL = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'content-length', 'age'])
export const fieldsOf = headers => JSON.stringify(Object.fromEntries(Object.entries(headers).filter(([name]) => !USUAL.has(name.toLowerCase()) && !name.startsWith(':'))))
/** Ports in a text are chance. */
export const portless = text => String(text).replace(/(localhost|127\.0\.0\.1|\[::1\]):\d{2,5}/g, '$1:PORT')
/** An error by its class and code alone: the words of refusals are of each package. */
export const named = error => `${error?.name} ${error?.code ?? '-'}${error?.cause === undefined ? '' : ` <- ${error.cause.name} ${error.cause.code ?? '-'}`}`
/** An error by its name, code and words, and those of a TypeError's cause. */
export const known = error => !(error instanceof Error) && !(error?.name)
  ? String(error)
  : portless(`${error.name} ${error.code ?? '-'} ${error.message}${!(error instanceof TypeError) || error.cause === undefined ? '' : ` <- ${known(error.cause)}`}`)

/** The environment of one program on one version of HTTP. */
export class Page {
  constructor (module, stage, version) {
    this.module = module
    this.stage = stage
    this.version = version
    this.log = stage.log('client')
    this.own = dispatcher => stage.own(dispatcher)
    /** How errors are logged. */
    this.words = known
  }

  /** A server of this version; `asked()` resolves when its handler has been called. */
  async serve (handler, options) {
    let asked = Promise.withResolvers()
    const answer = async (request, response) => {
      await handler(request, response)
      asked.resolve()
    }
    const server = await (this.version === 'h2' ? this.stage.serveH2(answer, options) : this.stage.serve(answer, options))
    server.asked = async () => {
      await asked.promise
      asked = Promise.withResolvers()
    }
    return server
  }

  /** Options of a dispatcher for this version. */
  options (options = {}) {
    const { connect, ...rest } = options
    return this.version === 'h2' ? { ...rest, connect: { ca: cert, ...connect } } : options
  }

  client (origin, options) { return this.own(new this.module.Client(origin, this.options(options))) }
  pool (origin, options) { return this.own(new this.module.Pool(origin, this.options(options))) }
  agent (options) { return this.own(new this.module.Agent(this.options(options))) }

  /** Logs what a promise comes to, with the words of an error. */
  async settle (label, promise, report = value => [value]) {
    try {
      this.log(label, '->', ...report(await promise))
    } catch (error) {
      this.log(label, 'rejected', this.words(error))
    }
  }

  attempt (label, call, report = value => [typeof value]) {
    try {
      const value = call()
      this.log(label, '->', ...report(value))
      return value
    } catch (error) {
      this.log(label, 'threw', this.words(error))
      return undefined
    }
  }
}

/** Programs by name, once for each version: `program(page, module)`. */
export function onVersions (versions, programs) {
  const all = {}
  for (const version of versions) {
    for (const [name, program] of Object.entries(programs)) all[`${version}, ${name}`] = (module, stage) => program(new Page(module, stage, version), module)
  }
  return all
}
/** Programs whose subject is no version. */
export function programs (table) {
  const all = {}
  for (const [name, program] of Object.entries(table)) all[name] = (module, stage) => program(new Page(module, stage, 'h1'), module)
  return all
}

export const hello = (request, response) => { response.end('hello') }
export const get = { path: '/', method: 'GET' }
export const textOf = answer => answer.body.text()
/** Resolves `ms` later. */
export const after = ms => new Promise(resolve => { setTimeout(resolve, ms) })
