// quic-go's http3 with 2 bytes for every request, or pieces.
package main

import (
	"flag"
	"log"
	"net"
	"net/http"
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
		if r.URL.Path == "/streamed" {
			for range 16 {
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
