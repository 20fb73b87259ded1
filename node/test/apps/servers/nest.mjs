// The application that both platforms of Nest serve; decorators are called, because nothing here is compiled.
import { Readable } from 'node:stream'
import { BadRequestException, Body, Controller, Get, Header, HttpCode, Module, Param, ParseIntPipe, Post, Query, Redirect, Sse, StreamableFile } from '@nestjs/common'
import { from, map } from 'rxjs'

class AppController {
  hello (name, query) { return { hello: name, query } }
  twice (id) { return { twice: id * 2 } }
  make (body) { return { made: body } }
  refuse () { throw new BadRequestException('refused on purpose') }
  breaks () { throw new Error('broken on purpose') }
  file () { return new StreamableFile(Readable.from([Buffer.from('one '), Buffer.from('two')]), { type: 'text/plain', disposition: 'attachment; filename="f.txt"' }) }
  events () { return from([1, 2, 3]).pipe(map(data => ({ data: { data } }))) }
  away () {}
  text () { return 'text' }
}

const routes = {
  hello: [Get('hello/:name')], twice: [Get('twice/:id')], make: [Post('make'), HttpCode(202)], refuse: [Get('refuse')], breaks: [Get('breaks')],
  file: [Get('file')], events: [Sse('events')], away: [Get('away'), Redirect('/text', 301)], text: [Get('text'), Header('x-nest', 'yes')]
}
for (const [name, decorators] of Object.entries(routes)) {
  const property = Object.getOwnPropertyDescriptor(AppController.prototype, name)
  for (const decorate of decorators) decorate(AppController.prototype, name, property)
}
Param('name')(AppController.prototype, 'hello', 0)
Query()(AppController.prototype, 'hello', 1)
Param('id', ParseIntPipe)(AppController.prototype, 'twice', 0)
Body()(AppController.prototype, 'make', 0)
Controller()(AppController)

export class AppModule {}
Module({ controllers: [AppController] })(AppModule)

const json = { 'content-type': 'application/json' }

export const requests = [
  { path: '/hello/world?q=1' }, { path: '/twice/21' }, { path: '/twice/no' },
  { path: '/make', method: 'POST', headers: json, body: '{"a":[1,2]}' }, { path: '/make', method: 'POST', headers: json, body: '{' },
  { path: '/refuse' }, { path: '/breaks' }, { path: '/file' }, { path: '/events', headers: { accept: 'text/event-stream' } }, { path: '/away' }, { path: '/text' }, { path: '/text', method: 'HEAD' },
  { path: '/text', method: 'OPTIONS', headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' } }, { path: '/nowhere' }
]
