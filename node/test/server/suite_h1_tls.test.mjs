import { suite } from './behaviour/suite.mjs'

suite('h1 over TLS')
