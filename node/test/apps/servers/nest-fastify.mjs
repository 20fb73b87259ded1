import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { AppModule } from './nest.mjs'
export { requests } from './nest.mjs'

export async function start ({ create }) {
  const adapter = new FastifyAdapter({ serverFactory: handler => create(handler) })
  const nest = await NestFactory.create(AppModule, adapter, { logger: false })
  nest.enableCors()
  await nest.init()
  const app = nest.getHttpAdapter().getInstance()
  await app.ready()
  return app.server
}
