//! Dispatch: which request starts on which connection now. Sees only capacity, never a version.
