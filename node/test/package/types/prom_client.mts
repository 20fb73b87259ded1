// Registries of prom-client, by its own types.
import { register, Registry, type OpenMetricsContentType } from 'prom-client'
import { Agent, createServer, registerMetrics, serve } from 'trunkline'

const remove: () => void = registerMetrics(register, serve({ fetch: () => new Response() }), createServer(), new Agent())
remove()
registerMetrics(new Registry<OpenMetricsContentType>(), new Agent())
// @ts-expect-error: an Agent is no registry
registerMetrics(new Agent(), new Agent())
