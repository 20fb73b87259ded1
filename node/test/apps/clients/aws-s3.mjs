import { Readable } from 'node:stream'
import { DeleteObjectCommand, GetObjectCommand, HeadObjectCommand, ListObjectsV2Command, PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { UndiciHttpHandler } from '@smithy/undici-http-handler'

const objects = new Map()

export function answer (request, response, body) {
  const { pathname, searchParams } = new URL(request.url, 'https://s3.test')
  response.setHeader('x-amz-request-id', 'req-1')
  if (searchParams.get('list-type') === '2') {
    response.setHeader('content-type', 'application/xml')
    return response.end('<?xml version="1.0"?><ListBucketResult><KeyCount>2</KeyCount><Contents><Key>a</Key><Size>1</Size></Contents><Contents><Key>b</Key><Size>2</Size></Contents></ListBucketResult>')
  }
  if (request.method === 'PUT') {
    objects.set(pathname, body)
    response.setHeader('etag', '"put"')
    return response.end()
  }
  if (request.method === 'DELETE') { response.statusCode = 204; return response.end() }
  const object = objects.get(pathname)
  if (object === undefined) {
    response.statusCode = 404
    response.setHeader('content-type', 'application/xml')
    return response.end(request.method === 'HEAD' ? undefined : '<?xml version="1.0"?><Error><Code>NoSuchKey</Code><Message>none</Message></Error>')
  }
  response.setHeader('etag', '"put"')
  response.setHeader('content-length', object.length)
  response.setHeader('x-amz-meta-of', 'row')
  response.end(request.method === 'HEAD' ? undefined : object)
}

// Signatures and ids of each call have its time in them.
export const ignored = ['authorization', 'x-amz-date', 'amz-sdk-invocation-id']

export function calls ({ url, dispatcher }) {
  const client = new S3Client({
    region: 'eu-west-1', endpoint: url, forcePathStyle: true, maxAttempts: 1, credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    ...dispatcher === undefined ? {} : { requestHandler: new UndiciHttpHandler({ dispatcher }) }
  })
  const of = Key => ({ Bucket: 'bucket', Key })
  return {
    put: async () => (await client.send(new PutObjectCommand({ ...of('a'), Body: 'body of a', ContentType: 'text/plain', Metadata: { of: 'row' } }))).ETag,
    get: async () => { const { Body, Metadata, ContentLength } = await client.send(new GetObjectCommand(of('a'))); return [(await Body.transformToString()).includes('body of a'), Metadata, typeof ContentLength] },
    'put bytes': async () => (await client.send(new PutObjectCommand({ ...of('large'), Body: Buffer.alloc(1 << 20, 'l') }))).ETag,
    'get bytes': async () => (await (await client.send(new GetObjectCommand(of('large')))).Body.transformToByteArray()).length,
    'put a stream': async () => (await client.send(new PutObjectCommand({ ...of('stream'), ContentLength: 9, Body: Readable.from([Buffer.from('one '), Buffer.from('piece')]) }))).ETag,
    head: async () => (await client.send(new HeadObjectCommand(of('a')))).Metadata,
    list: async () => (await client.send(new ListObjectsV2Command({ Bucket: 'bucket' }))).Contents,
    missing: async () => { try { await client.send(new GetObjectCommand(of('missing'))) } catch (error) { return [error.name, error.message, error.$metadata.httpStatusCode] } },
    delete: async () => (await client.send(new DeleteObjectCommand(of('a')))).$metadata.httpStatusCode,
    aborted: async () => { try { await client.send(new GetObjectCommand(of('a')), { abortSignal: AbortSignal.abort() }) } catch (error) { return error.name } },
    '50 at once': async () => (await Promise.all(Array.from({ length: 50 }, () => client.send(new HeadObjectCommand(of('a')))))).length
  }
}
