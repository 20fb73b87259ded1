// Responses that need no network: data: and blob: URLs (https://fetch.spec.whatwg.org/#scheme-fetch).

import { resolveObjectURL } from 'node:buffer'
import { Body } from '../body/body'
import { readDataUrl } from './data_url'
import { extract } from '../body/extract'
import { HeaderList, TextList } from '../headers/header_list'
import { ResponseParts } from '../response'
import type { ParsedUrl } from '../url'

/** RFC 9110 section 14.1.2, one range: the first and the last byte, of which one may be missing. */
const RANGE = /^bytes[\t ]*=[\t ]*(\d*)[\t ]*-[\t ]*(\d*)[\t ]*$/i

function fields (pairs: Record<string, string>): HeaderList {
  return new TextList(Object.entries(pairs).map(([name, value]) => `${name}\0${value}`).join('\0'))
}

/** The response of a URL of this process; throws the cause of a network error. */
export function localResponse (url: ParsedUrl, method: string, range: string | null): ResponseParts {
  switch (url.protocol) {
    case 'data:': {
      const found = readDataUrl(url.bare)
      if (found === null) throw new Error('failed to fetch the data URL')
      return new ResponseParts(200, 'OK', fields({ 'content-type': found.type }), new Body(found.bytes))
    }
    case 'blob:': return blobResponse(url, method, range)
    case 'about:': throw new Error('about scheme is not supported')
    case 'file:': throw new Error('not implemented... yet...')
    default: throw new Error('unknown scheme')
  }
}

function blobResponse (url: ParsedUrl, method: string, range: string | null): ResponseParts {
  // The store of Node.js passes over a query (https://w3c.github.io/FileAPI/#blob-url-resolve: the whole URL is the key).
  const blob = url.bare.includes('?') ? undefined : resolveObjectURL(url.bare) as Blob | undefined
  if (method !== 'GET' || blob === undefined) throw new Error('invalid method')
  const { size, type } = blob
  if (range === null) {
    return new ResponseParts(200, 'OK', fields({ 'content-length': String(size), 'content-type': type }), extract(blob).body)
  }
  const [first, last] = rangeOf(range, size)
  const part = blob.slice(first, last + 1, type)
  const list = fields({ 'content-length': String(part.size), 'content-type': type, 'content-range': `bytes ${first}-${last}/${size}` })
  return new ResponseParts(206, 'Partial Content', list, extract(part).body)
}

function rangeOf (range: string, size: number): [first: number, last: number] {
  const [, from = '', to = ''] = RANGE.exec(range) ?? []
  if ((from === '' && to === '') || (from !== '' && to !== '' && Number(from) > Number(to))) throw new Error('failed to fetch the data URL')
  if (from === '') return [Math.max(size - Number(to), 0), size - 1]
  if (Number(from) >= size) throw new Error("Range start is greater than the blob's size.")
  return [Number(from), to === '' ? size - 1 : Math.min(Number(to), size - 1)]
}
