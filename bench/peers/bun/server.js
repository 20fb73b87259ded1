// Bun's static routes: 1 KiB, and 2 bytes (over HTTP/3 too); answers whose length and etag depend on their target; pieces, and the file that FILE names. Arguments: port [certificate key].
import { dirname } from "node:path";

const [port, cert, key] = process.argv.slice(2);
const varied = "x".repeat(1536);
const piece = new Uint8Array(16 * 1024).fill(0x78);
Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  http2: true,
  http3: Boolean(cert),
  idleTimeout: 255,
  tls: cert && { cert: Bun.file(cert), key: Bun.file(key) },
  routes: {
    "/bytes/1024": new Response("x".repeat(1024), { headers: { "content-type": "text/plain" } }),
    "/bytes/2": new Response("ok", { headers: { "content-type": "text/plain" } }),
    "/varied/:target": request => {
      const target = Number(request.params.target);
      return new Response(varied.slice(0, 512 + target * 397 % 1024), { headers: { "content-type": "text/plain", etag: `"v${target}"` } });
    },
    "/streamed": () => {
      let left = 16;
      const pull = controller => left-- > 0 ? controller.enqueue(piece) : controller.close();
      return new Response(new ReadableStream({ pull }), { headers: { "content-type": "text/plain" } });
    },
    "/file.txt": () => new Response(Bun.file(process.env.FILE)),
    "/bulk/:bytes": request => new Response(Bun.file(`${dirname(process.env.FILE)}/bulk/${request.params.bytes}`)),
  },
});
