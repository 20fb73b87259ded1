// Every option of a dispatcher and of a request with every kind of value, and answers of every form: the same comes of
// them with undici's dispatchers and with those of this package.
import { compare } from './client_parity/compare.mjs'
import { different } from './client_parity/different_tables.mjs'

await compare('tables', different)
