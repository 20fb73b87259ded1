import { suite } from './behaviour/suite.mjs'

suite('h2c')
