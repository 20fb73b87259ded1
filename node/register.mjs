// Puts this package in the place of node:http2: `node --import trunkline/register program.mjs`.
import './dist/register.js'
