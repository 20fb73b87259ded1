// Medians of rounds, as a table of CSV and as tables of Markdown, and the goals judged.

const UNITS = {
  'client CPU per request': ['us', 1],
  'requests per second': ['1/s', 0],
  'client CPU per MiB': ['us', 0],
  'MiB per second': ['MiB/s', 0],
  'requests failed': ['1', 0],
  'resident memory': ['MiB', 0],
  'latency p50': ['us', 0],
  'latency p99': ['us', 0]
}

/** Every figure of a run: by scenario, subject and metric. */
export class Figures {
  all = new Map()

  /** The figures of one round of a subject. */
  add (scenario, subject, round) {
    for (const [metric, value] of Object.entries(round)) {
      const key = [scenario, subject, metric].join('\t')
      this.all.set(key, [...this.all.get(key) ?? [], value])
    }
  }

  /** Median, smallest and largest; undefined: not measured. */
  get (scenario, subject, metric) {
    const values = [...this.all.get([scenario, subject, metric].join('\t')) ?? []].sort((a, b) => a - b)
    if (values.length === 0) return undefined
    const middle = values.length >> 1
    const median = values.length % 2 === 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2
    return { median, min: values[0], max: values.at(-1) }
  }

  names (index, scenario) {
    const names = [...this.all.keys()].map(key => key.split('\t')).filter(parts => scenario === undefined || parts[0] === scenario)
    return [...new Set(names.map(parts => parts[index]))]
  }

  csv () {
    const rows = [...this.all.keys()].map(key => {
      const [scenario, subject, metric] = key.split('\t')
      const [unit, digits] = UNITS[metric]
      const { median, min, max } = this.get(scenario, subject, metric)
      return [scenario, subject, metric, unit, ...[median, min, max].map(value => value.toFixed(digits))].join(',')
    })
    return `scenario,subject,metric,unit,median,min,max\n${rows.join('\n')}\n`
  }

  /** A table per scenario. */
  tables () {
    return this.names(0).map(scenario => {
      const metrics = this.names(2, scenario)
      const isBulk = metrics.includes('client CPU per MiB')
      const columns = isBulk ? ['client CPU per MiB', 'MiB per second', 'resident memory', 'requests failed'] : metrics.includes('latency p50') ? ['latency p50', 'latency p99', 'client CPU per request'] : ['client CPU per request', 'requests per second', 'resident memory', 'requests failed']
      const rows = this.names(1, scenario).map(subject => [subject, ...columns.map((metric, index) => {
        const spread = this.get(scenario, subject, metric)
        if (spread === undefined) return ''
        const show = value => value.toFixed(UNITS[metric][1])
        return index === 0 ? `${show(spread.median)} (${show(spread.min)}-${show(spread.max)})` : show(spread.median)
      })])
      return table(scenario, ['client', ...columns.map(metric => `${metric}, ${UNITS[metric][0]}`)], rows)
    }).join('')
  }
}

export function table (title, head, rows) {
  if (rows.length === 0) return ''
  const widths = head.map((cell, column) => Math.max(cell.length, ...rows.map(row => row[column].length)))
  const line = cells => `| ${cells.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |\n`
  return `## ${title}\n\n${line(head)}${line(widths.map(width => '-'.repeat(width)))}${rows.map(line).join('')}\n`
}

const CPU = 'client CPU per request'
const P50 = 'latency p50'
const AT_ONCE = '50 connections'
const LINE = 'node24'

/** Ours is at most `factor` of what the peer takes, with undici 8 on Node 24. */
const goal = (scenario, ours, metric, factor, peerScenario, peer) => ({ scenario: `${LINE} ${scenario}`, ours, metric, factor, peerScenario: `${LINE} ${peerScenario}`, peer })
const GOALS = [
  goal(`h2 ${AT_ONCE}`, 'trunkline dispatch', CPU, 1 / 6, `h2 ${AT_ONCE}`, 'undici dispatch'),
  goal(`h2 ${AT_ONCE}`, 'trunkline request', CPU, 1 / 4, `h2 ${AT_ONCE}`, 'undici request'),
  goal('h2 1 connection', 'trunkline dispatch', CPU, 1 / 6, 'h2 1 connection', 'undici dispatch'),
  goal('h2 1 connection', 'trunkline request', CPU, 1 / 4, 'h2 1 connection', 'undici request'),
  goal(`h1 ${AT_ONCE}`, 'trunkline dispatch', CPU, 0.6, `h1 ${AT_ONCE}`, 'undici dispatch'),
  goal(`h1 ${AT_ONCE}`, 'trunkline request', CPU, 0.6, `h1 ${AT_ONCE}`, 'undici request'),
  goal(`h2 ${AT_ONCE}`, 'trunkline dispatch', CPU, 1, `h1 ${AT_ONCE}`, 'undici dispatch'),
  goal(`h2 ${AT_ONCE}`, 'trunkline request', CPU, 1, `h1 ${AT_ONCE}`, 'undici request'),
  goal(`h1 ${AT_ONCE}`, 'fetch on trunkline', CPU, 3 / 4, `h1 ${AT_ONCE}`, 'fetch'),
  goal(`h2 ${AT_ONCE}`, 'fetch on trunkline', CPU, 3 / 4, `h1 TLS ${AT_ONCE}`, 'fetch'),
  ...['h1', 'h1 TLS', 'h2'].flatMap(protocol => ['dispatch', 'request'].map(how =>
    goal(`${protocol} one at a time`, `trunkline ${how}`, P50, 1, `${protocol} one at a time`, `undici ${how}`)))
]

/** The goals as a table; those whose figures are missing are left out. */
export function goals (figures) {
  const rows = GOALS.flatMap(({ scenario, ours, metric, factor, peerScenario, peer }) => {
    const own = figures.get(scenario, ours, metric)
    const other = figures.get(peerScenario, peer, metric)
    if (own === undefined || other === undefined) return []
    const [unit, digits] = UNITS[metric]
    const most = factor * other.median
    const against = peerScenario === scenario ? peer : `${peer} over ${peerScenario.slice(LINE.length + 1)}`
    return [[`${scenario}, ${ours}: ${metric}`, `${Number(factor.toFixed(2))} x ${against} = ${most.toFixed(digits)} ${unit}`, own.median.toFixed(digits), own.median <= most ? 'reached' : 'missed']]
  })
  return table('goals', ['goal', 'at most', 'ours', ''], rows)
}
