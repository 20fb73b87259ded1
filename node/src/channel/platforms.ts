// The platforms with a prebuilt addon, each in a package of its own. The loader and the scripts of
// `pack/` read this table; `.github/workflows/node-pack.yml` builds each of them.

interface Platform {
  /** As in the package's name. */
  name: string
  /** `process.platform` and `process.arch`. */
  os: string
  cpu: string
  /** On Linux; as npm names it. */
  libc?: 'glibc' | 'musl'
}

export const PLATFORMS: readonly Platform[] = [
  { name: 'linux-x64-gnu', os: 'linux', cpu: 'x64', libc: 'glibc' },
  { name: 'linux-arm64-gnu', os: 'linux', cpu: 'arm64', libc: 'glibc' },
  { name: 'linux-x64-musl', os: 'linux', cpu: 'x64', libc: 'musl' },
  { name: 'linux-arm64-musl', os: 'linux', cpu: 'arm64', libc: 'musl' },
  { name: 'darwin-x64', os: 'darwin', cpu: 'x64' },
  { name: 'darwin-arm64', os: 'darwin', cpu: 'arm64' },
  { name: 'win32-x64', os: 'win32', cpu: 'x64' },
  { name: 'win32-arm64', os: 'win32', cpu: 'arm64' }
]

/** The package with a platform's addon. */
export const packageOf = (name: string): string => `@trunkline/${name}`

/** The platform of this process: `linux-x64-gnu`. */
export function host (): string {
  const { platform, arch } = process
  return platform === 'linux' ? `${platform}-${arch}-${hasGlibc() ? 'gnu' : 'musl'}` : `${platform}-${arch}`
}

/** Only a Node.js on glibc names its version. */
function hasGlibc (): boolean {
  const report = process.report as typeof process.report & { excludeNetwork?: boolean }
  // The report's network part resolves names, which takes seconds without a resolver.
  const before = report.excludeNetwork
  report.excludeNetwork = true
  const { header } = report.getReport() as { header?: { glibcVersionRuntime?: string } }
  report.excludeNetwork = before ?? false
  return header?.glibcVersionRuntime !== undefined
}
