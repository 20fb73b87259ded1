// Uses the installed package once over each version that needs no certificate.
const { createServer } = require('node:http')
const http2 = require('node:http2')
const { once } = require('node:events')

module.exports = async function used ({ Agent, Client, request, installGlobal }) {
  const plain = createServer((request, response) => { request.pipe(response) })
  const multiplexed = http2.createServer((request, response) => { request.pipe(response) })
  for (const server of [plain, multiplexed]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
  }
  const url = server => `http://127.0.0.1:${server.address().port}`
  const agent = new Agent()
  const answer = await request(`${url(plain)}/`, { method: 'POST', body: 'hello', dispatcher: agent })
  if (await answer.body.text() !== 'hello') throw new Error('another answer than expected')
  const uninstall = installGlobal(agent)
  const fetched = await fetch(url(plain), { method: 'POST', body: 'fetched' })
  if (await fetched.text() !== 'fetched') throw new Error('another answer than expected')
  uninstall()
  const client = new Client(url(multiplexed), { useH2c: true })
  const all = Array.from({ length: 100 }, async (_, index) => {
    const { body } = await client.request({ path: '/', method: 'POST', body: `${index}` })
    if (await body.text() !== `${index}`) throw new Error('another answer than expected')
  })
  await Promise.all(all)
  await client.close()
  await agent.close()
  for (const server of [plain, multiplexed]) server.close()
  console.log('ok')
}
