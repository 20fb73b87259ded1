// Outcomes of requests, made comparable.

/** A request that takes longer has failed: applications answer in milliseconds, on a busy machine in seconds. */
const ANSWER_MS = 10_000
/** They belong to a connection, to a version or to a moment, and not to the application. */
const NOT_COMPARED = new Set(['date', 'connection', 'keep-alive', 'transfer-encoding', 'alt-svc'])

/** A answer's status, fields, body and trailers as plain values. */
export function normalised ({ status, headers, body, trailers = {} }, { ignored = [] } = {}) {
  const kept = Object.entries(headers).filter(([name]) => !NOT_COMPARED.has(name) && !ignored.includes(name)).sort(([a], [b]) => a < b ? -1 : 1)
  const joined = ([name, value]) => [name, name === 'set-cookie' ? [value].flat() : [value].flat().join(', ')]
  const text = body.toString()
  return { status, headers: Object.fromEntries(kept.map(joined)), body: Buffer.from(text).equals(body) ? text : body.toString('base64'), trailers: { ...trailers } }
}

/** The outcome of `work`, or how it failed; ports and what `masks` names are made equal. */
export async function bounded (work, { port, masks = [], within = ANSWER_MS }) {
  let timer
  const late = new Promise(resolve => { timer = setTimeout(resolve, within, { failed: 'no answer' }) })
  const failed = error => ({ failed: [error.code, error.message, error.cause?.message].filter(Boolean).join(' ') })
  const outcome = await Promise.race([Promise.resolve(work).catch(failed), late])
  clearTimeout(timer)
  let text = JSON.stringify(outcome ?? null, (name, value) => typeof value === 'string' ? masks.reduce((all, [what, by]) => all.replaceAll(what, by), value) : value)
  if (port !== undefined) text = text.replaceAll(String(port), 'PORT')
  return JSON.parse(text)
}

/** Prints what came out and ends the process, whatever is still open. */
export function report (reported) {
  process.stdout.write(`\n${JSON.stringify(reported)}\n`, () => { process.exit(0) })
}

/** A value in short, a long text from a little before the place where it is another. */
function quoted (value, other) {
  if (typeof value !== 'string' || typeof other !== 'string') return JSON.stringify(value)?.slice(0, 300)
  let at = 0
  while (at < value.length && value[at] === other[at]) at++
  const from = Math.max(0, at - 60)
  return `${from > 0 ? '.. ' : ''}${JSON.stringify(value.slice(from, from + 200))}`
}

/** The paths at which two outcomes differ, with both values. */
export function differences (expected, got, path = '') {
  if (Object.is(expected, got)) return []
  if (typeof expected === 'object' && typeof got === 'object' && expected !== null && got !== null) {
    const names = new Set([...Object.keys(expected), ...Object.keys(got)])
    return [...names].flatMap(name => differences(expected[name], got[name], path === '' ? name : `${path}.${name}`))
  }
  return [{ path, expected, got, text: `${path} is ${quoted(got, expected)}, expected ${quoted(expected, got)}` }]
}
