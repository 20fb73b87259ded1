// The classes and `fetch` as TypeScript programs see them: by the types of the global ones, so that what is ours and what is global
// can stand for one another.

import type { Readable } from 'node:stream'
import type { AnyDispatcher } from '../client/calls/api'
import { fetch as ownFetch } from './fetch'
import type { FieldsInit } from './headers/fields'
import { FormData as OwnFormData } from './form_data'
import { Headers as OwnHeaders } from './headers/headers'
import { Request as OwnRequest } from './request'
import { Response as OwnResponse } from './response'

/** A body that lies in a file, as `file` makes one. */
interface FileLike { readonly path: string; pieces: () => AsyncIterable<Uint8Array> }

type ResponseBody = string | Uint8Array | ArrayBuffer | null | undefined | FileLike | ReadableStream | Blob | globalThis.FormData | URLSearchParams | AsyncIterable<Uint8Array>

interface ResponseInit { status?: number; statusText?: string; headers?: FieldsInit }

/** The class `Response`. */
export interface ResponseClass {
  new (body?: ResponseBody, init?: ResponseInit): globalThis.Response
  readonly prototype: globalThis.Response
  error (): globalThis.Response
  json (data: unknown, init?: ResponseInit): globalThis.Response
  redirect (url: string | URL, status?: number): globalThis.Response
}

/** The options of `fetch`. */
export type FetchInit = Omit<globalThis.RequestInit, 'dispatcher' | 'body'> & {
  /** A body of the standard, a Node.js stream, or an async iterable of bytes. */
  body?: globalThis.RequestInit['body'] | Readable | AsyncIterable<Uint8Array>
  /** The dispatcher that the request goes through, of any package. Default: the one of `installGlobal`, else one of this package's. */
  dispatcher?: AnyDispatcher | undefined
}

export const Headers = OwnHeaders as unknown as typeof globalThis.Headers
export type Headers = globalThis.Headers
export const Request = OwnRequest as unknown as typeof globalThis.Request
export type Request = globalThis.Request
export const Response = OwnResponse as unknown as ResponseClass
export type Response = globalThis.Response
export const FormData = OwnFormData as unknown as typeof globalThis.FormData
export type FormData = globalThis.FormData
/** Fetches a resource; resolves to its response when its head has come. Rejects with a TypeError whose `cause` is the error of the
 * network, or with the reason of the signal. */
export const fetch = ownFetch as unknown as (input: string | URL | globalThis.Request, init?: FetchInit) => Promise<globalThis.Response>
