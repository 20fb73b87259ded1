// Hosts that are reached without a proxy, by undici's rules for `noProxy`.

/** An entry of the list. */
interface Entry {
  /** In lower case, without the dot or the asterisk in front. */
  name: string
  /** 0: any. */
  port: number
  /** The name itself is not meant, but those below it. */
  isBelow: boolean
}

const PORTS: Record<string, number> = { 'http:': 80, 'https:': 443 }

/** A name of the list or of a URL: without brackets around an address, and without the dot of the root. */
function bare (host: string): string { return host.replace(/^\[(.+)\]$/, '$1').replace(/(.)\.$/, '$1').toLowerCase() }

/** An entry that names no host is as good as none, because the environment is often not the program's: others read the same list by
 * other rules. */
function entryOf (text: string): Entry {
  // An IPv6 address has colons of its own, and takes a port behind brackets alone.
  const { host = text, port = '0' } = /^(?<host>\[.+\]|[^:]+):(?<port>\d+)$/.exec(text)?.groups ?? {}
  return { name: bare(host.replace(/^\*?\./, '')), port: Number(port), isBelow: host.startsWith('*') }
}

/** The list of an `EnvHttpProxyAgent`. */
export class Bypass {
  private list = ''
  private entries: Entry[] = []

  /** `read` gives the list, which may be another at each request. */
  constructor (private readonly read: () => string) {}

  /** Whether requests to the URL go directly. */
  has (url: URL): boolean {
    const list = this.read()
    if (list !== this.list) {
      this.list = list
      this.entries = list.split(/[,\s]/).filter(text => text !== '').map(entryOf)
    }
    if (this.entries.length === 0) return false
    const name = bare(url.hostname)
    const port = Number(url.port) || PORTS[url.protocol]
    return this.entries.some(entry => {
      if (entry.port !== 0 && entry.port !== port) return false
      return entry.name === '*' || (entry.name === name && !entry.isBelow) || name.endsWith(`.${entry.name}`)
    })
  }
}
