// The outcome of a call as text, so that two of them can be compared.

/** A value as text, the boundary of a form left out, or the name of the error. */
export async function outcome (call) {
  try {
    return String(JSON.stringify(await call())).replaceAll(/formdata-undici-0?\d+|trunkline-[0-9a-f]+/g, 'boundary')
  } catch (error) {
    return error.name
  }
}
