// Bun (lsquic) as a foreign server: HTTP/3 on UDP, HTTP/1.1 on TCP, one port.
const [port, cert, key] = Bun.argv.slice(2);

Bun.serve({
  hostname: "127.0.0.1",
  port: Number(port),
  tls: { cert: Bun.file(cert), key: Bun.file(key) },
  http3: true,
  async fetch(request) {
    switch (new URL(request.url).pathname) {
      case "/bytes/1024":
        return new Response("x".repeat(1024));
      case "/echo":
        return new Response(await request.arrayBuffer());
      case "/hello":
        return new Response("hello");
    }
    return new Response("no such path", { status: 404 });
  },
});
