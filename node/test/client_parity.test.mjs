// Small programs over the API of undici's dispatchers log the same with the dispatchers of this package.
import { compare } from './client_parity/compare.mjs'
import { different } from './client_parity/different.mjs'

await compare('programs', different)
