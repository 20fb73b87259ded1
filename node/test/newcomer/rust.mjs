// Compiles the programs in Rust as a crate of their own would have them, with the crates by path.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './blocks.mjs'

/** The dependencies that `cargo add` of the documents writes, and the crates whose names they use. */
const MANIFEST = `[package]
name = "newcomer"
version = "0.0.0"
edition = "2024"

[dependencies]
axum = "0.8"
http = "1"
tokio = { version = "1", features = ["full"] }
trunkline = { path = "../../engine" }

[workspace]
`

/** Compiles the blocks; gives what the compiler says. */
export function check (blocks) {
  const folder = join(root, 'target', 'newcomer')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'src', 'bin'), { recursive: true })
  writeFileSync(join(folder, 'Cargo.toml'), MANIFEST)
  cpSync(join(root, 'Cargo.lock'), join(folder, 'Cargo.lock'))
  const names = new Map()
  for (const { where, code } of blocks) {
    const name = where.replaceAll(/[^a-z0-9]+/gi, '_').toLowerCase()
    names.set(name, where)
    writeFileSync(join(folder, 'src', 'bin', `${name}.rs`), code)
  }
  const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target')
  const { status, stderr } = spawnSync('cargo', ['check', '--quiet', '--bins'], { cwd: folder, encoding: 'utf8', env: { ...process.env, CARGO_TARGET_DIR: target } })
  if (status === 0) return []
  let text = stderr
  for (const [name, where] of names) text = text.replaceAll(`src/bin/${name}.rs`, where)
  return [text]
}
