// The media type of a file, by its extension.

const UTF8 = ';charset=utf-8'

const TYPES: Record<string, string> = {
  html: `text/html${UTF8}`, htm: `text/html${UTF8}`, css: `text/css${UTF8}`, js: `text/javascript${UTF8}`, mjs: `text/javascript${UTF8}`,
  cjs: `text/javascript${UTF8}`, txt: `text/plain${UTF8}`, text: `text/plain${UTF8}`, md: `text/markdown${UTF8}`, csv: `text/csv${UTF8}`,
  ics: `text/calendar${UTF8}`, vtt: `text/vtt${UTF8}`, xml: 'application/xml', xhtml: 'application/xhtml+xml', json: `application/json${UTF8}`,
  jsonld: 'application/ld+json', map: `application/json${UTF8}`, webmanifest: 'application/manifest+json', wasm: 'application/wasm', pdf: 'application/pdf',
  rtf: 'application/rtf', atom: 'application/atom+xml', rss: 'application/rss+xml', yaml: 'application/yaml', yml: 'application/yaml',
  zip: 'application/zip', gz: 'application/gzip', tar: 'application/x-tar', bz2: 'application/x-bzip2', '7z': 'application/x-7z-compressed', zst: 'application/zstd',
  doc: 'application/msword', docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xls: 'application/vnd.ms-excel', xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  ppt: 'application/vnd.ms-powerpoint', pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
  odt: 'application/vnd.oasis.opendocument.text', ods: 'application/vnd.oasis.opendocument.spreadsheet', epub: 'application/epub+zip',
  png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', webp: 'image/webp', avif: 'image/avif', svg: 'image/svg+xml', ico: 'image/x-icon',
  bmp: 'image/bmp', tif: 'image/tiff', tiff: 'image/tiff', heic: 'image/heic', jxl: 'image/jxl', apng: 'image/apng',
  mp3: 'audio/mpeg', m4a: 'audio/mp4', aac: 'audio/aac', oga: 'audio/ogg', ogg: 'audio/ogg', opus: 'audio/ogg', wav: 'audio/wav', flac: 'audio/flac',
  weba: 'audio/webm', mp4: 'video/mp4', m4v: 'video/mp4', webm: 'video/webm', ogv: 'video/ogg', mov: 'video/quicktime', mpeg: 'video/mpeg', mkv: 'video/x-matroska',
  ts: 'video/mp2t', m3u8: 'application/vnd.apple.mpegurl', mpd: 'application/dash+xml',
  woff: 'font/woff', woff2: 'font/woff2', ttf: 'font/ttf', otf: 'font/otf'
}

/** The type of any bytes (RFC 2046 section 4.5.1). */
const UNKNOWN = 'application/octet-stream'

/** The media type that files of such a name have. */
export function typeOfName (name: string): string {
  const end = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase()
  return end !== undefined && Object.hasOwn(TYPES, end) ? TYPES[end]! : UNKNOWN
}
