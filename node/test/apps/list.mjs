// The applications, each with the exact versions that it is tried with.
//
// `faces` of a server: `listener` (createSecureServer with `requests: 'http'`), `compatible` (createSecureServer as it
// is), `serve` (the application's fetch handler). A server of `own: 'http2'` is a gRPC server, whose reference is
// node:http2; the reference of the others is node:https over HTTP/1.1, and node:http2 over HTTP/2 is a column beside it.
// `versions` are those that the application knows; `with` is a file that several programs share; `type` is that of the package.

const REACT = { react: '19.3.1', 'react-dom': '19.3.1' }
const NEST = { '@nestjs/common': '11.2.10', '@nestjs/core': '11.2.10', 'reflect-metadata': '0.2.2', rxjs: '7.8.2' }

export const servers = [
  { name: 'express', packages: { express: '5.3.0', multer: '2.5.0' }, faces: ['listener', 'compatible'] },
  {
    name: 'express-middleware',
    packages: {
      express: '5.3.0', compression: '1.8.2', 'express-session': '1.19.0', helmet: '8.3.0', 'http-proxy-middleware': '4.2.2', morgan: '1.12.1',
      'on-finished': '2.4.2', passport: '0.7.0', 'response-time': '2.3.4'
    },
    faces: ['listener', 'compatible']
  },
  { name: 'apollo', packages: { '@apollo/server': '5.5.1', '@as-integrations/express5': '1.1.2', express: '5.3.0', graphql: '16.15.0' }, faces: ['listener', 'compatible'] },
  { name: 'polka', packages: { polka: '0.5.2', 'body-parser': '2.4.0', sirv: '3.0.2' }, faces: ['listener', 'compatible'] },
  { name: 'koa', packages: { koa: '3.3.0' }, faces: ['listener', 'compatible'] },
  {
    name: 'fastify',
    packages: { fastify: '5.12.8', '@fastify/cors': '11.4.3', '@fastify/static': '10.1.11', '@fastify/websocket': '11.3.6', '@fastify/multipart': '10.1.9' },
    faces: ['listener', 'compatible']
  },
  { name: 'nest-express', with: 'nest.mjs', packages: { ...NEST, '@nestjs/platform-express': '11.2.10' }, faces: ['listener', 'compatible'] },
  { name: 'nest-fastify', with: 'nest.mjs', packages: { ...NEST, '@nestjs/platform-fastify': '11.2.8' }, faces: ['listener', 'compatible'] },
  { name: 'next', packages: { next: '15.5.29', ...REACT }, faces: ['listener'] },
  { name: 'trpc', packages: { '@trpc/server': '11.25.2' }, faces: ['listener', 'serve'] },
  { name: 'yoga', packages: { 'graphql-yoga': '5.24.1', graphql: '16.15.0' }, faces: ['listener', 'compatible', 'serve'] },
  { name: 'hono', packages: { hono: '4.13.19', '@hono/node-server': '2.1.8' }, faces: ['listener', 'compatible', 'serve'] },
  { name: 'hapi', packages: { '@hapi/hapi': '21.4.10' }, faces: ['listener', 'compatible'] },
  { name: 'h3', packages: { h3: '2.0.8' }, faces: ['listener', 'compatible', 'serve'] },
  { name: 'srvx', packages: { srvx: '1.0.8' }, faces: ['listener', 'compatible', 'serve'] },
  { name: 'elysia', packages: { elysia: '1.4.30', '@elysiajs/node': '1.4.5', '@hono/node-server': '2.1.9' }, faces: ['listener', 'serve'] },
  {
    name: 'sveltekit',
    packages: { '@sveltejs/kit': '2.70.4', '@sveltejs/adapter-node': '5.5.7', '@sveltejs/vite-plugin-svelte': '6.2.3', svelte: '5.57.3', vite: '7.3.8' },
    type: 'module',
    faces: ['listener', 'compatible']
  },
  { name: 'astro', packages: { astro: '5.18.2', '@astrojs/node': '9.5.5' }, type: 'module', faces: ['listener'] },
  {
    name: 'react-router',
    packages: {
      'react-router': '7.18.4', '@react-router/dev': '7.18.4', '@react-router/express': '7.18.4', '@react-router/node': '7.18.4', express: '5.3.0', isbot: '5.2.3', vite: '7.3.8', ...REACT
    },
    type: 'module',
    faces: ['listener', 'compatible']
  },
  { name: 'nuxt', packages: { nuxt: '4.4.5' }, type: 'module', faces: ['listener'] },
  { name: 'tus', packages: { '@tus/server': '2.4.5', '@tus/file-store': '2.1.1' }, faces: ['listener', 'compatible'] },
  { name: 'socket.io', packages: { 'socket.io': '4.8.4' }, faces: ['listener', 'compatible'] },
  { name: 'vite', packages: { vite: '7.3.8' }, faces: ['listener', 'compatible'] },
  {
    name: 'connect-node',
    packages: { '@connectrpc/connect': '2.1.2', '@connectrpc/connect-node': '2.1.2', '@bufbuild/protobuf': '2.17.0' },
    faces: ['compatible'],
    own: 'http2'
  },
  { name: 'grpc-js', packages: { '@grpc/grpc-js': '1.14.7' }, faces: ['compatible'], own: 'http2', versions: ['h2', 'h3'] }
]

export const clients = [
  { name: 'openai', packages: { openai: '6.49.0' } },
  { name: 'anthropic', packages: { '@anthropic-ai/sdk': '1.12.0' } },
  { name: 'aws-s3', packages: { '@aws-sdk/client-s3': '3.1169.0', '@smithy/undici-http-handler': '3.2.4' } },
  { name: 'axios', with: 'echo.mjs', packages: { axios: '1.21.1' } },
  { name: 'ky', with: 'echo.mjs', packages: { ky: '1.14.3' } },
  { name: 'got', with: 'echo.mjs', packages: { got: '14.6.6' } },
  { name: 'octokit', packages: { octokit: '5.0.5' } },
  { name: 'stripe', packages: { stripe: '23.1.0' } },
  { name: 'supabase', packages: { '@supabase/supabase-js': '2.50.0' } },
  { name: 'ofetch', with: 'echo.mjs', packages: { ofetch: '1.5.1' } },
  { name: 'discord', packages: { '@discordjs/rest': '2.6.3', undici: '7.30.2' } }
]

/** gRPC's services beside one's own. */
const BESIDE = { '@grpc/proto-loader': '0.8.1', '@grpc/reflection': '1.0.4', 'grpc-health-check': '2.1.0' }

/** Programs of a client and a server, each on node:http2 and with `trunkline/register`; `program` is a file that rows share,
 * `needs` a variable of the environment with the path of a program, without which the row is left out. */
export const programs = [
  { name: 'grpc-js-1.14', program: 'grpc-js', packages: { '@grpc/grpc-js': '1.14.7', ...BESIDE } },
  { name: 'grpc-js-1.13', program: 'grpc-js', packages: { '@grpc/grpc-js': '1.13.7', ...BESIDE } },
  { name: 'grpc-js-1.12', program: 'grpc-js', packages: { '@grpc/grpc-js': '1.12.7', ...BESIDE } },
  { name: 'grpc-interop', packages: { '@grpc/grpc-js': '1.14.7', '@grpc/proto-loader': '0.8.1' }, needs: 'TRUNKLINE_GRPC_GO' },
  { name: 'connect-http2', packages: { '@connectrpc/connect': '2.3.0', '@connectrpc/connect-node': '2.3.0', '@bufbuild/protobuf': '2.17.0' } },
  { name: 'nice-grpc', packages: { 'nice-grpc': '2.1.18', '@grpc/grpc-js': '1.14.7' } },
  { name: 'got-http2', with: 'h2_echo.mjs', packages: { got: '14.6.6', 'http2-wrapper': '2.2.4' } },
  { name: 'superagent-http2', with: 'h2_echo.mjs', packages: { superagent: '10.4.2' } },
  { name: 'fetch-h2', with: 'h2_echo.mjs', packages: { 'fetch-h2': '3.0.2' } },
  { name: 'axios-http2', with: 'h2_echo.mjs', packages: { axios: '1.21.1' } },
  { name: 'aws-events', packages: { '@aws-sdk/client-transcribe-streaming': '3.1141.0', '@smithy/node-http-handler': '4.14.2', '@smithy/core': '3.41.0' } }
]

/** Programs that run servers and clients, carry their bytes or trace them; `sides` are our forms in the place of node's. */
export const hosts = [
  { name: 'pm2', packages: { pm2: '7.0.4' }, sides: ['ours', 'serve'] },
  { name: 'ssh2', packages: { ssh2: '1.17.0' }, sides: ['ours'] },
  { name: 'dockerode', packages: { dockerode: '5.0.1' }, sides: ['ours'] },
  { name: 'ws', packages: { ws: '8.21.3', 'http-proxy': '1.18.1' }, sides: ['ours'] },
  { name: 'http-terminator', packages: { 'http-terminator': '3.2.0', stoppable: '1.1.0', supertest: '7.3.2' }, sides: ['ours'] },
  { name: 'jsdom', packages: { jsdom: '29.1.1' }, sides: ['ours'] },
  { name: 'fetch-mocks', packages: { msw: '3.0.5', nock: '14.0.9' }, sides: ['ours'] },
  { name: 'dd-trace', packages: { 'dd-trace': '6.21.0', undici: '7.30.2' }, sides: ['ours'] }
]
