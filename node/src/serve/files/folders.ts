// Files of folders: maps a path to a file inside the folder, never outside.

import { statSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { inspect } from 'node:util'
import type { FieldsInit } from '../../fetch/headers/fields'
import { Response } from '../../fetch/faces'
import type { Exchange } from '../../server/exchange'
import { canonicalPath } from '../../syntax/url_path'
import { file } from '../web/response'
import { pathOf, queryOf } from '../web/url'

interface FolderOptions {
  /** The file that stands for a folder; `false`: none does. Default: `index.html`. */
  index?: string | false
  /** Whether names that begin with a dot are found. Default: false. */
  dotFiles?: boolean
  /** Fields of every answer, for example `cache-control`. */
  headers?: FieldsInit
}

export interface StaticFolder extends FolderOptions {
  /**
   * The folder. Names in it that begin with a dot are hidden, and links that lead out of it are not
   * followed.
   */
  folder: string | URL
}

/** A folder among the routes, at a path that ends in a star; what it does not have is a 404. */
export interface RouteFolder extends FolderOptions {
  /** As `folder` of `static`. It must be there. */
  dir: string | URL
  /** An option of Bun without effect: the system's own cache of files is used. */
  statCache?: boolean
}

/** One folder for all paths, or folders by the beginnings of paths (`/assets`). */
export type StaticOptions = string | URL | StaticFolder | Record<`/${string}`, string | URL | StaticFolder>

interface Mount extends FolderOptions { prefix: string; root: string }

const MOVED = 308
const NOT_FOUND = 404

const isFolder = (given: unknown): given is StaticFolder => typeof given === 'object' && given !== null && 'folder' in given

function mountOf (prefix: string, given: unknown): Mount {
  const options = isFolder(given) ? given : { folder: given as string | URL }
  const { folder, ...rest } = options
  if (typeof folder !== 'string' && !(folder instanceof URL)) throw new TypeError(`static has the folder ${inspect(folder)}; it must be a path or a file URL`)
  const root = resolve(typeof folder === 'string' ? folder : fileURLToPath(folder))
  return { ...rest, prefix: canonicalPath(new URL(prefix.replace(/\/*$/, '/'), 'http://a/').pathname).slice(0, -1), root }
}

function mountsOf (given: StaticOptions): Mount[] {
  if (typeof given === 'string' || given instanceof URL || isFolder(given)) return [mountOf('', given)]
  if (typeof given !== 'object' || given === null) throw new TypeError(`static is ${inspect(given)}; it must be a folder, or folders by the beginnings of paths`)
  const mounts = Object.entries(given).map(([prefix, folder]) => {
    if (!prefix.startsWith('/')) throw new TypeError(`static has the path ${JSON.stringify(prefix)}; it must begin with a slash`)
    return mountOf(prefix, folder)
  })
  // The longest beginning counts.
  return mounts.sort((one, other) => other.prefix.length - one.prefix.length)
}

/** The names in a path below a prefix; null: it names nothing that could be found. */
function namesIn (path: string, dotFiles: boolean): string[] | null {
  const names: string[] = []
  for (const [at, piece] of path.split('/').entries()) {
    // A slash at the end is one more empty piece, as the one in front is.
    if (piece === '' && (at === 0 || at === path.split('/').length - 1)) continue
    let name: string
    try {
      name = decodeURIComponent(piece)
    } catch {
      return null
    }
    if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name) || (!dotFiles && name.startsWith('.'))) return null
    names.push(name)
  }
  return names
}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'ELOOP', 'EACCES', 'EPERM'])

/** The result of a promise of node:fs; undefined: the file does not exist, or must not be read. */
async function present<T> (asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked
  } catch (error) {
    if (ABSENT.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

const ROUTE_NAMES = new Set(['dir', 'index', 'dotFiles', 'headers', 'statCache'])

/** The answers of a folder among the routes. */
export class FolderRoute {
  readonly isFile = false
  private readonly folders: Folders

  /** @throws the system's error where there is no such folder. */
  constructor (path: string, route: RouteFolder, where: string) {
    if (!path.endsWith('/*') || path.includes('/:')) throw new TypeError(`${where} is a folder; its path must end in /*, and have no parameters`)
    const other = Object.keys(route).find(name => !ROUTE_NAMES.has(name))
    if (other !== undefined) throw new TypeError(`${where} has ${inspect(other)}; a folder has ${[...ROUTE_NAMES].join(', ')}`)
    const { dir, statCache: _, ...rest } = route
    this.folders = new Folders({ [path.slice(0, -1)]: { ...rest, folder: dir } })
    if (!statSync(dir).isDirectory()) throw new TypeError(`${where} has the dir ${inspect(dir)}, which is no folder`)
  }

  async get (exchange: Exchange): Promise<Response> {
    return await this.folders.find(pathOf(exchange), queryOf(exchange.path)) ?? new Response(null, { status: NOT_FOUND })
  }
}

export class Folders {
  private readonly mounts: Mount[]
  constructor (given: StaticOptions) { this.mounts = mountsOf(given) }

  /** Whether a file may answer the request. */
  concerns (method: string, path: string): boolean {
    return (method === 'GET' || method === 'HEAD') && this.mountFor(path) !== undefined
  }

  private mountFor (path: string): Mount | undefined {
    return this.mounts.find(({ prefix }) => path.startsWith(prefix) && (path.length === prefix.length || path[prefix.length] === '/'))
  }

  /** The answer with the file that `path` names; undefined: there is none. `query` goes along where a folder's path lacks its last slash. */
  async find (path: string, query: string): Promise<Response | undefined> {
    const mount = this.mountFor(path)
    const names = mount === undefined ? null : namesIn(path.slice(mount.prefix.length), mount.dotFiles === true)
    if (mount === undefined || names === null) return undefined
    const { index = 'index.html', headers } = mount
    const found = await this.inside(mount, names)
    if (found === undefined) return undefined
    const init = headers === undefined ? {} : { headers }
    if (!found.isFolder) return path.endsWith('/') ? undefined : new Response(file(found.path), init)
    if (index === false) return undefined
    const within = await this.inside(mount, [...names, index])
    if (within === undefined || within.isFolder) return undefined
    if (!path.endsWith('/')) return new Response(null, { status: MOVED, headers: { location: `${path}/${query}` } })
    return new Response(file(within.path), init)
  }

  /** A file or folder of these names, links resolved; undefined: there is none inside of the mount's folder. */
  private async inside (mount: Mount, names: string[]): Promise<{ path: string; isFolder: boolean } | undefined> {
    const root = await present(realpath(mount.root))
    const path = root === undefined ? undefined : await present(realpath(join(root, ...names)))
    if (root === undefined || path === undefined) return undefined
    const base = root.endsWith(sep) ? root : root + sep
    if (path !== root && !path.startsWith(base)) return undefined
    // A link may lead to a name that is hidden.
    if (mount.dotFiles !== true && path.slice(base.length).split(sep).some(name => name.startsWith('.'))) return undefined
    const found = await present(stat(path))
    if (found === undefined || !(found.isFile() || found.isDirectory())) return undefined
    return { path, isFolder: found.isDirectory() }
  }
}
