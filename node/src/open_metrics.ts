// Text of OpenMetrics 1.0, as servers and dispatchers give it, and the sum of several.

/** The media type of OpenMetrics text. */
export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const END = '# EOF\n'
/** An exposition without a metric. */
export const NO_METRICS = END

/** A server of this package, or a dispatcher. */
export interface MetricsSource { metrics: () => string }

/** One metric: its description, and its samples by name and labels, which histograms need in their order. */
interface Family { described: string; samples: Map<string, string> }

/**
 * The counts of several servers and dispatchers as one exposition: an exposition names each metric once, so their
 * texts cannot stand behind each other. Samples of one name and the same labels are summed.
 */
export function metrics (...sources: MetricsSource[]): string {
  if (sources.length === 1) return sources[0]!.metrics()
  const families = new Map<string, Family>()
  for (const source of sources) read(source.metrics(), families)
  let text = ''
  for (const { described, samples } of families.values()) {
    text += described
    for (const [series, value] of samples) text += `${series} ${value}\n`
  }
  return text + END
}

function read (text: string, families: Map<string, Family>): void {
  let family: Family = { described: '', samples: new Map() }
  let isNew = false
  for (const line of text.split('\n')) {
    if (line === '' || line === '# EOF') continue
    if (line.startsWith('# ')) {
      const [, kind, name] = line.split(' ', 3) as [string, string, string]
      if (kind === 'TYPE') {
        const known = families.get(name)
        isNew = known === undefined
        family = known ?? { described: '', samples: new Map() }
        families.set(name, family)
      }
      if (isNew) family.described += `${line}\n`
      continue
    }
    const at = line.lastIndexOf(' ')
    const [series, value] = [line.slice(0, at), line.slice(at + 1)]
    const before = family.samples.get(series)
    family.samples.set(series, before === undefined || isInfo(series) ? value : sum(before, value))
  }
}

/** The value of an info metric is 1. */
const isInfo = (series: string): boolean => /^\w+_info[{ ]/.test(`${series} `)

/** Counts are whole; sums of durations have nanoseconds. */
function sum (a: string, b: string): string {
  if (!a.includes('.') && !b.includes('.')) return String(BigInt(a) + BigInt(b))
  return (Number(a) + Number(b)).toFixed(9)
}
