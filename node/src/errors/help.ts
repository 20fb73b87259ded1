// The address of a code's section on the package's page of errors.

/** Codes of alerts of TLS, of which there are many and each line of Node.js has its own, share one section. */
const ALERT = /^ERR_SSL_.*ALERT/

/** The section for `code`, as a file of the package and an anchor in it. */
export const helpOf = (code: string): string => `docs/node-errors.md#${ALERT.test(code) ? 'err_ssl_protocol_error' : code.toLowerCase()}`

/** The end of a message that is the package's own. Messages of undici and of Node.js stay as they are: programs compare them. */
export const seeHelp = (code: string): string => ` (see ${helpOf(code)} of the package trunkline)`
