import { Agent, request } from 'trunkline'
import trunkline = require('trunkline')

const agent: trunkline.Agent = new Agent({ maxConcurrentStreams: 100 })
request('https://example.org/', { dispatcher: agent }, (error, answer) => {
  if (error === null) console.log(answer?.statusCode)
})
// @ts-expect-error: a URL is text or a URL
void request(7)
