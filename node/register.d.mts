// Loaded for what it does: it exports nothing.
export {}
