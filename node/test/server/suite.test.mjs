// The suite of behaviours on every version of HTTP, in clear and under TLS.
import { versions } from '../support/clients/clients.mjs'
import { share } from '../support/share.mjs'
import { suite } from './behaviour/suite.mjs'

for (const { name } of share(versions)) suite(name)
