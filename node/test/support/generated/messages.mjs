// Messages of HTTP/1.1 that are right or nearly so, for parsers that judge each other. A case is its seed.

/** xorshift32. */
export function generator (seed) {
  let state = (Math.imul(seed, 0x9e3779b9) | 1) >>> 0
  const next = () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return state >>> 0
  }
  for (let warm = 0; warm < 8; warm++) next()
  return { below: end => next() % end, oneOf: all => all[next() % all.length], chance: of => next() % of === 0 }
}

// Without a tab behind the number, which RFC 9110 section 5.6.3 allows and llhttp refuses.
const LENGTHS = ['content-length: 4', 'Content-Length: 4', 'content-length:4', 'content-length: 04', 'content-length: +4', 'content-length: 4, 4', 'content-length: 4,5', 'content-length: 0x4', 'content-length: 4 4', 'content-length : 4', 'content-length: -1', 'content-length: 99999999999999999999', 'content-length: ', ' content-length: 4', 'content-length\x0b: 4', 'content_length: 4']
const CODINGS = ['transfer-encoding: chunked', 'Transfer-Encoding: Chunked', 'transfer-encoding:chunked', 'transfer-encoding : chunked', 'transfer-encoding: chunked, identity', 'transfer-encoding: identity, chunked', 'transfer-encoding: chunked, chunked', 'transfer-encoding: xchunked', 'transfer-encoding: gzip, chunked', 'transfer-encoding: "chunked"', 'transfer-encoding: chunked\x0b', 'transfer-encoding: chunked;q=1', 'transfer-encoding: ', 'transfer-encoding:\r\n chunked', 'transfer-encoding\x00: chunked', 'x: y\r\n transfer-encoding: chunked', 'transfer-encoding: identity']
const ENDS = ['\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\r\n', '\n', '\r', '\r\r\n', '\n\r\n']
const SIZES = ['4', '04', '4;x', '4;x=y', '4;x="\r\n"', '4 ', ' 4', '0x4', '+4', '4\t', '0', '00', 'fffffffffffffffff', '4;\n', '4\r', '-4', '', '4g']
const PIECES = ['body', '0\r\n\r\n', '', 'bod', 'body\r\n']

/**
 * Makes messages with these start lines and other fields, the first of each the usual ones. `smuggled` is a message that a
 * body may be, whole: a parser that ends the body elsewhere takes it for one.
 */
export function maker (lines, others, smuggled) {
  const pieces = [...PIECES.slice(0, 3), smuggled, ...PIECES.slice(3)]
  const sizes = [...SIZES, smuggled.length.toString(16)]
  const lengths = [...LENGTHS, `content-length: ${smuggled.length}`]

  function chunks (random) {
    let text = ''
    for (let count = random.below(3); count > 0; count--) {
      text += random.oneOf(sizes) + (random.chance(6) ? random.oneOf(ENDS) : '\r\n')
      text += random.oneOf(pieces) + (random.chance(6) ? random.oneOf(ENDS) : '\r\n')
    }
    return text + random.oneOf(['0\r\n\r\n', '0\r\n\r\n', '0\r\nx: y\r\n\r\n', '0\r\ncontent-length: 9\r\n\r\n', '0\n\n', '0\r\n', '', '0;x\r\n\r\n', '00\r\n\r\n'])
  }

  return function message (random) {
    const end = () => random.chance(12) ? random.oneOf(ENDS) : '\r\n'
    let text = (random.chance(3) ? random.oneOf(lines) : lines[0]) + end()
    const fields = ['host: a']
    // One thing that is odd is more often understood than three.
    const odd = random.below(3)
    if (random.chance(2)) fields.push(odd === 0 ? random.oneOf(lengths) : lengths[0])
    if (random.chance(2)) fields.push(odd === 1 ? random.oneOf(CODINGS) : CODINGS[0])
    if (random.chance(3)) fields.push(odd === 2 ? random.oneOf(others) : others[0])
    if (random.chance(8)) fields.push(random.oneOf(lengths))
    if (random.chance(8)) fields.push(random.oneOf(CODINGS))
    if (random.chance(2)) fields.reverse()
    for (const field of fields) text += field + end()
    text += random.chance(12) ? random.oneOf(ENDS) : '\r\n'
    return text + (random.chance(2) ? chunks(random) : random.oneOf(pieces))
  }
}
