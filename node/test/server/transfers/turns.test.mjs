// Every way in which an exchange can end, with what the engine tells in other turns of the loop than it comes in: it is chance on a
// machine what comes together, and no outcome may depend on it.
import '../../support/cut_turns.mjs'

for (const file of ['behind_answer', 'ends', 'last_bytes', 'resets', '../../client/requests/ends']) {
  await import(`./${file}.test.mjs`)
}
