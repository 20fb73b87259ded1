// Programs that say something else with the dispatchers of this package than with undici 8, and why.

export const different = {
}
