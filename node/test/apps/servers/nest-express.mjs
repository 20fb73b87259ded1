import 'reflect-metadata'
import express from 'express'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { AppModule } from './nest.mjs'
export { requests } from './nest.mjs'

export async function start ({ create }) {
  const app = express()
  const nest = await NestFactory.create(AppModule, new ExpressAdapter(app), { logger: false })
  nest.enableCors()
  await nest.init()
  return create(app)
}
