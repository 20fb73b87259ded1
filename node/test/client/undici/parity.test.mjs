// Small programs over the API of undici's dispatchers log the same with the dispatchers of this package.
import { declare } from '../../comparisons/declare.mjs'

await declare('client')
