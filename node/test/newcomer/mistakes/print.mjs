// Prints an error as a person reads it: class, code and message, and each cause.
export function print (error) {
  for (let one = error, before = ''; one instanceof Error; one = one.cause, before = '  because: ') {
    console.log(`${before}${one.name}${one.code === undefined ? '' : ` [${one.code}]`}: ${one.message}`)
  }
}

/** Prints what the call fails with. */
export async function mistake (call) {
  try {
    await call()
    console.log('nothing failed')
  } catch (error) {
    print(error)
  }
}
