// `request.cookies`, by the field that came, by its use, and by the answer.

const CAME = {
  none: null,
  one: 'a=1',
  two: 'a=1; b=2',
  'one twice': 'a=1; a=2; b=3',
  'a value with escapes': 'a=%20x%3B; b=2',
  'an escape that is none': 'a=%zz; b=%',
  'a value with an equals sign': 'a=b=c',
  'a value in quotes': 'a="x y"; b=2',
  'no value': 'a=; b',
  'no name': '=x; a=1',
  'blanks': '  a = 1 ;b=2;;  c=3 ',
  'a name with escapes': '%61=1; b%20c=2',
  'names of prototypes': '__proto__=1; constructor=2; toString=3',
  'a prefix': '__Host-a=1; __Secure-b=2',
  'bytes above 127': 'a=\xc3\xbc'
}

const json = value => JSON.stringify(value)
/** Uses of the cookies; their results are logged. */
const DONE = {
  'reads them': cookies => [cookies.get('a'), cookies.get('none'), cookies.has('a'), cookies.has('none'), cookies.size],
  'lists them': cookies => [json([...cookies]), json([...cookies.keys()]), json([...cookies.values()]), json([...cookies.entries()])],
  'turns them into JSON': cookies => [json(cookies), json(cookies.toJSON())],
  'calls forEach': cookies => {
    const all = []
    cookies.forEach((value, name, map) => { all.push([name, value, map === cookies]) })
    return [json(all)]
  },
  'sets one': cookies => [cookies.set('a', '9'), cookies.get('a'), cookies.size],
  'sets one with a value to escape': cookies => [cookies.set('n', 'a b;c,d"é€%'), cookies.get('n')],
  'sets one without a value': cookies => [cookies.set('n', ''), cookies.get('n'), cookies.has('n')],
  'sets one twice': cookies => {
    cookies.set('n', '1')
    cookies.set('m', '2')
    cookies.set('n', '3', { path: '/x' })
    return [json([...cookies])]
  },
  'sets one by an object': cookies => [cookies.set({ name: 'n', value: 'v', path: '/p', secure: true, httpOnly: true, sameSite: 'strict' }), cookies.get('n')],
  'sets one with all options': cookies => [cookies.set('n', 'v', { domain: 'example.com', path: '/p', expires: new Date(4102444800000), maxAge: 60, secure: true, httpOnly: true, partitioned: true, sameSite: 'none' })],
  'sets one with a path that is empty': cookies => [cookies.set('n', 'v', { path: '' })],
  'sets one with an expiry in seconds': cookies => [cookies.set('n', 'v', { expires: 4102444800 })],
  'sets one with an expiry as text': cookies => [cookies.set('n', 'v', { expires: 'Fri, 01 Jan 2100 00:00:00 GMT' })],
  'sets one with a maxAge of 0': cookies => [cookies.set('n', 'v', { maxAge: 0 })],
  'sets one with a negative maxAge': cookies => [cookies.set('n', 'v', { maxAge: -1 })],
  'sets one with a maxAge that is no integer': cookies => [cookies.set('n', 'v', { maxAge: 1.5 })],
  'sets one with options of undefined': cookies => [cookies.set('n', 'v', { domain: undefined, path: undefined, expires: undefined, maxAge: undefined, sameSite: undefined })],
  'sets one with sameSite in capitals': cookies => [cookies.set('n', 'v', { sameSite: 'Strict' })],
  'sets a number': cookies => [cookies.set('n', 5), cookies.get('n')],
  'sets nothing': cookies => [cookies.set(), cookies.size],
  'sets a name alone': cookies => [cookies.set('n')],
  'sets an object without a name': cookies => [cookies.set({ value: 'v' })],
  'sets an object without a value': cookies => [cookies.set({ name: 'n' })],
  'sets one with a path of null': cookies => [cookies.set('n', 'v', { path: null })],
  'deletes nothing': cookies => [cookies.delete(), cookies.size],
  'deletes an object without a name': cookies => [cookies.delete({})],
  'sets undefined': cookies => [cookies.set('n', undefined), cookies.get('n')],
  'sets one with the name "a b"': cookies => [cookies.set('a b', '1')],
  'sets one without a name': cookies => [cookies.set('', '1')],
  'sets one with a path of two lines': cookies => [cookies.set('n', 'v', { path: '/\r\nx: y' })],
  'sets one with a domain of two attributes': cookies => [cookies.set('n', 'v', { domain: 'a; Secure' })],
  'sets one with a sameSite that is none': cookies => [cookies.set('n', 'v', { sameSite: 'all' })],
  'sets one with an expiry that is none': cookies => [cookies.set('n', 'v', { expires: 'never' })],
  'deletes one': cookies => [cookies.delete('a'), cookies.get('a'), cookies.has('a'), cookies.size],
  'deletes one that did not come': cookies => [cookies.delete('n'), cookies.size],
  'deletes one with a path and a domain': cookies => [cookies.delete('a', { path: '/p', domain: 'example.com' })],
  'deletes one by an object': cookies => [cookies.delete({ name: 'a', path: '/p' })],
  'sets and deletes one': cookies => [cookies.set('n', 'v'), cookies.delete('n'), cookies.get('n')],
  'deletes and sets one': cookies => [cookies.delete('a'), cookies.set('a', 'new'), cookies.get('a'), json([...cookies])]
}

const ANSWERS = {
  text: ({ Response }) => new Response('text'),
  'a cookie of its own': ({ Response }) => new Response('text', { headers: { 'set-cookie': 'own=1' } }),
  'a stream': ({ Response }) => new Response((async function * () { yield 'piece' })(), { headers: { 'content-length': '5' } }),
  'a redirect': ({ Response }) => Response.redirect('http://localhost/x', 303),
  'nothing': ({ Response }) => new Response(null, { status: 204 }),
  'a failure': () => { throw new Error('fails') }
}

const program = (came, done, answer = 'text', place = 'a route') => async (module, stage) => {
  const log = stage.log('server')
  const use = request => {
    if (request.cookies === undefined) log('no cookies')
    else {
      try {
        log('result', json(DONE[done](request.cookies)))
      } catch (error) {
        // The words are each one's own.
        log('threw', error.name)
      }
    }
    return ANSWERS[answer](module)
  }
  const server = stage.serve(module, {
    ...(place === 'a route' ? { routes: { '/': use }, fetch: () => new module.Response('none') } : { fetch: use }),
    ...(answer === 'a failure' ? { error: () => new module.Response('sorry', { status: 500 }) } : {})
  })
  const fields = CAME[came] === null ? [] : [['cookie', CAME[came]]]
  await stage.ask(server, { fields })
}

const programs = {}
for (const came of Object.keys(CAME)) for (const done of Object.keys(DONE)) programs[`${came}, ${done}`] = program(came, done)
for (const answer of Object.keys(ANSWERS)) {
  if (answer === 'text') continue
  for (const done of ['sets one', 'deletes one', 'sets one with all options', 'reads them']) programs[`one, ${done}, ${answer}`] = program('one', done, answer)
}
for (const done of ['reads them', 'sets one', 'deletes one']) programs[`one, ${done}, in fetch`] = program('one', done, 'text', 'fetch')
export default programs
