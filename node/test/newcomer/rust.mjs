// Builds the programs in Rust as a crate of their own would have them, with the crates by path.
import { execFileSync, spawnSync } from 'node:child_process'
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
tonic = "0.14"
tonic-health = "0.14"
trunkline = { path = "../../engine", features = ["tonic"] }

[workspace]
`

const folder = join(root, 'target', 'newcomer')
const nameOf = ({ where }) => where.replaceAll(/[^a-z0-9]+/gi, '_').toLowerCase()

/** Makes the crate and fetches what it depends on: the programs are built where no registry is reached. */
export function prepare (blocks) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, 'src', 'bin'), { recursive: true })
  writeFileSync(join(folder, 'Cargo.toml'), MANIFEST)
  cpSync(join(root, 'Cargo.lock'), join(folder, 'Cargo.lock'))
  for (const block of blocks) writeFileSync(join(folder, 'src', 'bin', `${nameOf(block)}.rs`), block.code)
  execFileSync('cargo', ['fetch', '--quiet'], { cwd: folder, stdio: 'inherit' })
}

/** Builds the blocks that were prepared, and says of each where its program lies; gives what the compiler says. */
export function build (blocks) {
  const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target')
  const { status, stderr } = spawnSync('cargo', ['build', '--quiet', '--bins', '--offline'], { cwd: folder, encoding: 'utf8', env: { ...process.env, CARGO_TARGET_DIR: target } })
  for (const block of blocks) block.program = join(target, 'debug', nameOf(block))
  if (status === 0) return []
  let text = stderr
  for (const block of blocks) text = text.replaceAll(`src/bin/${nameOf(block)}.rs`, block.where)
  return [text]
}
