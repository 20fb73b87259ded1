// docs/guide/node-errors.md beside the classes that it documents.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import test from 'node:test'
import { errors } from 'trunkline'

const page = readFileSync(new URL('../../../../docs/guide/node-errors.md', import.meta.url), 'utf8')
/** Of undici's base class: no error has it alone. */
const OF_NO_ERROR = new Set(['TrunklineError', 'UndiciError'])
const classes = Object.entries(errors).filter(([name, value]) => typeof value === 'function' && value.prototype instanceof errors.UndiciError && !OF_NO_ERROR.has(name))

test('the page of errors has a section for the code of each class', () => {
  assert.ok(classes.length > 20, `${classes.length} classes`)
  for (const [name, Class] of classes) {
    const { code } = new Class('for its code')
    const section = page.split(/^### /m).find(text => text.startsWith(`${code}\n`))
    assert.ok(section !== undefined, `${name}: no section ${code}`)
    assert.ok(section.includes(`\`${name}\``), `the section ${code} does not name ${name}`)
  }
})

test('links of the page of errors lead to its sections', () => {
  const anchors = new Set([...page.matchAll(/^#{2,3} (.+)$/gm)].map(([, title]) => title.toLowerCase()))
  const links = [...page.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor]) => anchor)
  assert.ok(links.length > 0)
  for (const link of links) assert.ok(anchors.has(link), `#${link}`)
})
