// Node's clients: ours and undici (h2 and h1), and node:http2.
//
//   client.js transfer KIND URL SECONDS       a line `bytes seconds` per transfer
//   client.js burst KIND URL COUNT SECONDS    a line `answered failed seconds reason`
// KIND: trunkline, trunkline-h1, undici, undici-h1, http2
import http2 from 'node:http2';

const [, , what, kind, url, ...rest] = process.argv;
const most = 1000 * Number(rest.at(-1));

// Ours is the package of this repository, as `make node` builds it.
const { Agent, request } = await import(kind.startsWith('trunkline') ? '../../../node/index.mjs' : 'undici');
const dispatcher = new Agent({
  allowH2: !kind.endsWith('-h1'),
  connect: { rejectUnauthorized: false, timeout: 2000 },
});

// Calls `onBytes` with the length of every piece.
async function get(target, signal, onBytes) {
  const { body, statusCode } = await request(target, { dispatcher, signal });
  for await (const piece of body) onBytes(piece.length);
  return statusCode;
}

function getHttp2(session, path, signal, onBytes) {
  return new Promise((resolve, reject) => {
    const stream = session.request({ ':path': path }, { signal });
    stream.on('data', (piece) => onBytes(piece.length));
    stream.on('end', resolve);
    stream.on('error', reject);
    stream.end();
  });
}

async function transfer() {
  const session = kind === 'http2' ? http2.connect(url, { rejectUnauthorized: false }) : null;
  const fetchPath = (path, signal, onBytes) =>
    session ? getHttp2(session, path, signal, onBytes) : get(url + path, signal, onBytes);
  await fetchPath('/1024', undefined, () => {});
  for (let round = 0; round < 2; round++) {
    const start = performance.now();
    const signal = AbortSignal.timeout(most);
    let bytes = 0;
    try {
      await fetchPath(`/${64 << 20}`, signal, (length) => (bytes += length));
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    console.log(bytes, ((performance.now() - start) / 1000).toFixed(6));
  }
  session?.destroy();
}

async function burst() {
  const count = Number(rest[0]);
  const start = performance.now();
  let [answered, failed, last, reason] = [0, 0, start, ''];
  const one = async (number) => {
    try {
      await get(`${url}/${number}`, undefined, () => {});
      answered++;
    } catch (error) {
      failed++;
      reason ||= `${error.code ?? error.name}: ${error.message}`;
    }
    last = performance.now();
  };
  const all = Promise.all(Array.from({ length: count }, (_, index) => one(index + 1)));
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, most))]);
  console.log(answered, failed, ((last - start) / 1000).toFixed(6), reason.replaceAll('\n', ' '));
}

await (what === 'transfer' ? transfer() : burst());
process.exit(0);
