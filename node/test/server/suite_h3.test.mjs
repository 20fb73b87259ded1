import { suite } from './behaviour/suite.mjs'

suite('h3')
