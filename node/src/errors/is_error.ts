// Errors of this realm and of others: Jest runs each file of tests in one of its own, where errors of Node.js are those of another.

import { types } from 'node:util'

export function isError (value: unknown): value is Error { return types.isNativeError(value) || value instanceof Error }
