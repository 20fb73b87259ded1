// The counts of servers and dispatchers in a registry of prom-client, read anew for each scrape.

import { InvalidArgumentError } from '../errors'
import { type Family, familiesOf, type MetricsSource, ofThread } from './open_metrics'
import { queueMicrotask } from '../timers'

/** A registry of prom-client, as far as it is needed: its `Registry`, and its `register`. */
export interface PromRegistry {
  registerMetric: (metric: any) => void
  removeSingleMetric: (name: string) => void
  getSingleMetric: (name: string) => unknown
}

/** A sample as prom-client has it. `metricName` is that of the part of a histogram. */
interface PromSample { value: number, labels: Record<string, string>, metricName?: string }

/** The metric that has families registered which sources have only later. */
const SOURCES = 'trunkline_sources'
/** prom-client has those of the process itself. */
const isOfProcess = (name: string): boolean => name.startsWith('process_')

/**
 * Registers the counts of servers and dispatchers with a registry of prom-client, so that its `metrics()`, `getMetricsAsJSON()` and, in a cluster, its
 * `AggregatorRegistry` have them beside a program's own. They are read anew for each scrape, summed over `sources`, and have the names of `metrics()`, without
 * `process_resident_memory_bytes` and the gauges of the event loop, which `collectDefaultMetrics` of prom-client has. `trunkline_sources` is the number of sources
 * that have counts. A server's metrics come with the second scrape after it has begun to listen, if it listened to nothing when it was registered.
 *
 * @param registry prom-client's `register`, or a `Registry`; either content type.
 * @param sources At least one server or dispatcher. A registry takes one call: several sources of a process belong into it.
 * @returns A function that takes them out of the registry.
 * @throws InvalidArgumentError Without a source, or where `registry` is no registry. prom-client's own error, where a metric of one of the names is there already.
 */
export function registerMetrics (registry: PromRegistry, ...sources: MetricsSource[]): () => void {
  const given = registry as Partial<PromRegistry> | null | undefined
  if (typeof given?.registerMetric !== 'function' || typeof given.removeSingleMetric !== 'function' || typeof given.getSingleMetric !== 'function') {
    throw new InvalidArgumentError('registry must be a Registry of prom-client, such as its register')
  }
  if (sources.length === 0) throw new InvalidArgumentError('registerMetrics needs a server or a dispatcher behind the registry')
  const names: string[] = []
  const registered = new Set<string>()
  const reading = new Reading(sources)
  const add = (metric: PromMetric): void => {
    registry.registerMetric(metric)
    names.push(metric.name)
  }
  const addFamilies = (isFirst: boolean): void => {
    for (const [name, { kind, help }] of reading.families()) {
      if (registered.has(name) || isOfProcess(name)) continue
      const metric = new PromMetric(name, kind, help, () => samplesOf(reading.families().get(name)))
      // Behind the first time a name that is taken must not fail the scrape.
      if (!isFirst && registry.getSingleMetric(metric.name) !== undefined) continue
      add(metric)
      registered.add(name)
    }
  }
  const remove = (): void => { for (const name of names) registry.removeSingleMetric(name) }
  try {
    add(new PromMetric(SOURCES, 'gauge', 'Servers and dispatchers that have counts.', () => {
      addFamilies(false)
      return [{ value: reading.active(), labels: {} }]
    }))
    addFamilies(true)
  } catch (error) {
    remove()
    throw error
  }
  return remove
}

/** A metric as a registry of prom-client asks for it. */
class PromMetric {
  /** The name of a counter changes with the registry's content type: prom-client takes `_total` away for OpenMetrics. */
  name: string
  readonly type: string
  readonly help: string
  /** How counts of workers of a cluster become one. */
  readonly aggregator: string
  readonly #read: () => PromSample[]

  constructor (family: string, kind: string, help: string, read: () => PromSample[]) {
    this.name = kind === 'counter' ? `${family}_total` : kind === 'info' ? `${family}_info` : family
    // prom-client has no info, whose value is 1.
    this.type = kind === 'info' ? 'gauge' : kind
    this.help = help
    this.aggregator = kind === 'info' ? 'first' : 'sum'
    this.#read = read
  }

  async get (): Promise<{ name: string, help: string, type: string, aggregator: string, values: PromSample[] }> {
    const { name, help, type, aggregator } = this
    return { name, help, type, aggregator, values: this.#read() }
  }

  /** Counts of the engine are never set back. */
  reset (): void {}
}

/** The families of one scrape: a registry asks for all of its metrics in one turn. */
class Reading {
  readonly #sources: MetricsSource[]
  #families: Map<string, Family> | undefined

  constructor (sources: MetricsSource[]) { this.#sources = sources }

  families (): Map<string, Family> {
    if (this.#families === undefined) {
      this.#families = familiesOf([...this.#sources, ...ofThread])
      queueMicrotask(() => { this.#families = undefined })
    }
    return this.#families
  }

  active (): number { return this.#sources.filter(source => familiesOf([source]).size > 0).length }
}

function samplesOf (family: Family | undefined): PromSample[] {
  // Its source has ended.
  if (family === undefined) return []
  return Array.from(family.samples, ([series, text]) => {
    const [, name, pairs = ''] = /^(\w+)(?:\{(.*)\})?$/.exec(series)!
    const labels = Object.fromEntries(Array.from(pairs.matchAll(/(\w+)="([^"]*)"/g), ([, label, value]) => [label!, value!]))
    const sample = { value: Number(text), labels }
    return family.kind === 'histogram' ? { ...sample, metricName: name! } : sample
  })
}
