// Subresource Integrity (https://w3c.github.io/webappsec-subresource-integrity/#does-response-match-metadatalist).

import { createHash } from 'node:crypto'

/** Algorithms, the strongest last. */
const ALGORITHMS = ['sha256', 'sha384', 'sha512']
/** A known algorithm counts whatever its value is, so that a value that is empty or none matches no bytes. */
const HASH = /^(sha256|sha384|sha512)(?:-([^?]*))?(?:\?|$)/i

interface Hash { algorithm: string; value: string }

function parse (metadata: string): Hash[] {
  const hashes: Hash[] = []
  for (const token of metadata.split(/[\t\n\f\r ]+/)) {
    const found = HASH.exec(token)
    if (found !== null) hashes.push({ algorithm: found[1]!.toLowerCase(), value: (found[2] ?? '').replace(/-/g, '+').replace(/_/g, '/').replace(/=+$/, '') })
  }
  return hashes
}

/** Whether bytes are what the metadata says; metadata without a known algorithm says nothing. */
export function matches (bytes: Uint8Array, metadata: string): boolean {
  const hashes = parse(metadata)
  if (hashes.length === 0) return true
  const strongest = ALGORITHMS.findLast(algorithm => hashes.some(hash => hash.algorithm === algorithm))!
  const actual = createHash(strongest).update(bytes).digest('base64').replace(/=+$/, '')
  return hashes.some(hash => hash.algorithm === strongest && hash.value === actual)
}
