// quic-go's http3 with 2 bytes for every request, or pieces.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

func main() {
	clear := flag.String("clear", "", "address that only says that the server runs")
	tls := flag.String("tls", "", "address for HTTP/3, and for TCP that says that the server runs")
	cert := flag.String("cert", "", "certificate chain, PEM")
	key := flag.String("key", "", "private key, PEM")
	flag.Parse()

	text := []byte("ok")
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
		w.Header().Set("content-length", "2")
		w.Write(text)
	})
	for _, address := range []string{*clear, *tls} {
		if _, err := net.Listen("tcp", address); err != nil {
			log.Fatal(err)
		}
	}
	server := &http3.Server{
		Addr:       *tls,
		Handler:    answer,
		QUICConfig: &quic.Config{MaxIncomingStreams: 256},
	}
	log.Fatal(server.ListenAndServeTLS(*cert, *key))
}
