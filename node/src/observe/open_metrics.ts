// Text of OpenMetrics 1.0, as servers and dispatchers give it, and the sum of several with what is measured of the event loop.

import { type EventLoopUtilization, type IntervalHistogram, monitorEventLoopDelay, performance } from 'node:perf_hooks'

/** The media type of OpenMetrics text. */
export const OPENMETRICS_TYPE = 'application/openmetrics-text; version=1.0.0; charset=utf-8'

const END = '# EOF\n'
/** An exposition without a metric. */
export const NO_METRICS = END

/** Sources that an exposition of this thread has beside those that it is asked for. */
export const ofThread: MetricsSource[] = []

/** A server of this package, or a dispatcher. */
export interface MetricsSource { metrics: () => string }

/** One metric: its kind (`counter`, `gauge`, `histogram`, `info`), its description, and its samples by name and labels, which histograms need in their order. */
export interface Family { kind: string, help: string, described: string, samples: Map<string, string> }

/**
 * The counts of several servers and dispatchers as one exposition: an exposition names each metric once, so their
 * texts cannot stand behind each other. Samples of one name and the same labels are summed. Behind those of at least one stand gauges of this
 * thread's event loop, by OpenTelemetry's names, over the time since the exposition before: its utilization, and from the second
 * exposition on how late it was (`nodejs_eventloop_delay_p50_seconds`, `.._p99_seconds`, `.._max_seconds`), for which the first one starts a
 * timer of 20 ms that keeps no process alive. `trunkline_ring_lag_seconds` is a histogram of how long this thread took, from its wake-up on,
 * to come for what the engine had for it; nothing is measured for it where the engine runs on this thread.
 */
export const metrics = (...sources: MetricsSource[]): string => sources.length === 0 ? NO_METRICS : sum(...sources, ...ofThread).slice(0, -END.length) + eventLoop() + END

/** The counts of several servers and dispatchers as one exposition. */
export function sum (...sources: MetricsSource[]): string {
  if (sources.length === 1) return sources[0]!.metrics()
  let text = ''
  for (const { described, samples } of familiesOf(sources).values()) {
    text += described
    for (const [series, value] of samples) text += `${series} ${value}\n`
  }
  return text + END
}

/** The metrics of all sources by their names, summed. */
export function familiesOf (sources: MetricsSource[]): Map<string, Family> {
  const families = new Map<string, Family>()
  for (const source of sources) read(source.metrics(), families)
  return families
}

function read (text: string, families: Map<string, Family>): void {
  let family: Family = { kind: '', help: '', described: '', samples: new Map() }
  let isNew = false
  for (const line of text.split('\n')) {
    if (line === '' || line === '# EOF') continue
    if (line.startsWith('# ')) {
      const [, part, name, kind] = line.split(' ', 4) as [string, string, string, string]
      if (part === 'TYPE') {
        const known = families.get(name)
        isNew = known === undefined
        family = known ?? { kind, help: '', described: '', samples: new Map() }
        families.set(name, family)
      }
      if (part === 'HELP') family.help = line.slice(`# HELP ${name} `.length)
      if (isNew) family.described += `${line}\n`
      continue
    }
    const at = line.lastIndexOf(' ')
    const [series, value] = [line.slice(0, at), line.slice(at + 1)]
    const before = family.samples.get(series)
    family.samples.set(series, before === undefined || isInfo(series) ? value : added(before, value))
  }
}

/** The value of an info metric is 1. */
const isInfo = (series: string): boolean => /^\w+_info[{ ]/.test(`${series} `)

/** Counts are whole; sums of durations have nanoseconds. */
function added (a: string, b: string): string {
  if (!a.includes('.') && !b.includes('.')) return String(BigInt(a) + BigInt(b))
  return (Number(a) + Number(b)).toFixed(9)
}

/** The time between two looks at the event loop, ms. */
const LOOK_MS = 20
/** The looks since the exposition before; null: this runtime has no such measure. */
let delays: IntervalHistogram | null | undefined
let used: EventLoopUtilization | undefined

/** Gauges of this thread's event loop since the exposition before. */
function eventLoop (): string {
  let text = ''
  const gauge = (name: string, help: string, value: number): void => { text += `# TYPE ${name} gauge\n# HELP ${name} ${help}\n${name} ${value}\n` }
  const now = utilization()
  if (now !== undefined) {
    const { utilization: share } = performance.eventLoopUtilization(now, used)
    gauge('nodejs_eventloop_utilization', 'The part of the time in which the event loop was not idle, since the exposition before.', share)
    used = now
  }
  if (delays === undefined) delays = looking()
  else if (delays !== null && delays.max > 0) {
    // A look comes a whole interval after the one before where nothing is late.
    const late = (nanos: number): number => Math.max(0, nanos / 1e9 - LOOK_MS / 1e3)
    for (const [name, nanos] of [['p50', delays.percentile(50)], ['p99', delays.percentile(99)], ['max', delays.max]] as const) {
      gauge(`nodejs_eventloop_delay_${name}_seconds`, 'How late the event loop was, since the exposition before.', late(nanos))
    }
    delays.reset()
  }
  return text
}

/** Bun and Deno have parts of perf_hooks, and some of those throw. */
function looking (): IntervalHistogram | null {
  try {
    const histogram = monitorEventLoopDelay({ resolution: LOOK_MS })
    histogram.enable()
    return histogram
  } catch {
    return null
  }
}

function utilization (): EventLoopUtilization | undefined {
  try { return performance.eventLoopUtilization() } catch { return undefined }
}
