// Go's net/http with 1 KiB for every request, a length and etag by target, or pieces: HTTP/1.1 and HTTP/2, cleartext and TLS.
package main

import (
	"flag"
	"log"
	"net/http"
	"strconv"
	"strings"
)

func main() {
	clear := flag.String("clear", "", "address for HTTP/1.1 and HTTP/2 with prior knowledge")
	tls := flag.String("tls", "", "address for TLS")
	cert := flag.String("cert", "", "certificate chain, PEM")
	key := flag.String("key", "", "private key, PEM")
	flag.Parse()

	text := []byte(strings.Repeat("x", 1024))
	varied := []byte(strings.Repeat("x", 1536))
	piece := []byte(strings.Repeat("x", 16*1024))
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "text/plain")
		pieces := 0
		if r.URL.Path == "/streamed" {
			pieces = 16
		} else if bytes, ok := strings.CutPrefix(r.URL.Path, "/bulk/"); ok {
			n, _ := strconv.Atoi(bytes)
			pieces = n / len(piece)
		}
		if pieces > 0 {
			for range pieces {
				w.Write(piece)
			}
			return
		}
		if target, ok := strings.CutPrefix(r.URL.Path, "/varied/"); ok {
			n, _ := strconv.Atoi(target)
			text := varied[:512+n*397%1024]
			w.Header().Set("etag", "\"v"+target+"\"")
			w.Header().Set("content-length", strconv.Itoa(len(text)))
			w.Write(text)
			return
		}
		w.Header().Set("content-length", "1024")
		w.Write(text)
	})
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	settings := &http.HTTP2Config{MaxConcurrentStreams: 1000}
	cleartext := &http.Server{Addr: *clear, Handler: answer, Protocols: protocols, HTTP2: settings}
	secure := &http.Server{Addr: *tls, Handler: answer, Protocols: protocols, HTTP2: settings}
	go func() { log.Fatal(cleartext.ListenAndServe()) }()
	log.Fatal(secure.ListenAndServeTLS(*cert, *key))
}
