// The output of a test run: a line for each file, and each failure twice, when it happens and at
// the end, where the reader of a long log looks.
import { relative } from 'node:path'
import { inspect } from 'node:util'

export default async function * reporter (source) {
  const failures = []
  let file
  let passed = 0
  for await (const { type, data } of source) {
    const of = data.file ? relative('', data.file) : undefined
    if ((type === 'test:pass' || type === 'test:fail') && of && of !== file) {
      if (file) yield `${file}: ${passed} passed\n`
      file = of
      passed = 0
    }
    if (type === 'test:pass' && !data.skip) passed += 1
    if (type === 'test:fail' && !data.todo) {
      const failure = `FAILED ${of ?? ''}: ${data.name}\n${inspect(data.details.error?.cause ?? data.details.error)}\n`
      failures.push(failure)
      yield failure
    }
    if (type === 'test:stderr' || type === 'test:stdout') yield data.message
    if (type === 'test:diagnostic' && data.nesting === 0 && /^(tests|pass|fail|cancelled|skipped|duration_ms) /.test(data.message)) {
      if (file) yield `${file}: ${passed} passed\n`
      file = undefined
      yield `${data.message}\n`
    }
  }
  if (failures.length > 0) yield `\n${failures.length} failed:\n${failures.join('')}`
}
