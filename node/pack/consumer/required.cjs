require('./used.cjs')(require('trunkline'))
