// Go's net/http as a foreign server: HTTP/1.1 and HTTP/2, cleartext and TLS.
package main

import (
	"crypto/ecdh"
	"crypto/rand"
	tlsconf "crypto/tls"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"strings"
)

func main() {
	clear := flag.String("clear", "", "address for HTTP/1.1 and HTTP/2 with prior knowledge")
	tls := flag.String("tls", "", "address for TLS")
	cert := flag.String("cert", "", "certificate chain, PEM")
	key := flag.String("key", "", "private key, PEM")
	flag.Parse()

	text := []byte(strings.Repeat("x", 1024))
	http.HandleFunc("/bytes/1024", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-type", "text/plain")
		w.Header().Set("content-length", "1024")
		w.Write(text)
	})
	http.HandleFunc("/version", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	})
	http.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		io.Copy(w, r.Body)
	})
	http.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("trailer", "x-heard, x-sum")
		w.Write(body)
		w.Header().Set("x-heard", r.Trailer.Get("x-sent"))
		w.Header().Set("x-sum", "42")
	})
	http.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("link")
		io.WriteString(w, "done")
	})
	// HTTP/2: RST_STREAM; HTTP/1.1: the connection ends in the middle of the body.
	http.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-length", "1024")
		w.Write(text[:512])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	// HTTP/2: this response and those under way are the connection's last (GOAWAY).
	http.HandleFunc("/last", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("connection", "close")
		io.WriteString(w, "last")
	})

	// Keys for encrypted ClientHellos (RFC 9849), as an HTTPS record would have them, and what became of one.
	keys, list := helloKeys("localhost")
	http.HandleFunc("/ech/keys", func(w http.ResponseWriter, r *http.Request) {
		w.Write(list)
	})
	http.HandleFunc("/ech", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %v", r.TLS.ServerName, r.TLS.ECHAccepted)
	})

	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(true)
	protocols.SetUnencryptedHTTP2(true)
	settings := &http.HTTP2Config{MaxConcurrentStreams: 1000}
	quiet := log.New(io.Discard, "", 0)
	cleartext := &http.Server{Addr: *clear, Protocols: protocols, HTTP2: settings, ErrorLog: quiet}
	secure := &http.Server{Addr: *tls, Protocols: protocols, HTTP2: settings, ErrorLog: quiet}
	secure.TLSConfig = &tlsconf.Config{EncryptedClientHelloKeys: keys}
	go func() { log.Fatal(cleartext.ListenAndServe()) }()
	log.Fatal(secure.ListenAndServeTLS(*cert, *key))
}

// helloKeys makes a key pair for DHKEM(X25519, HKDF-SHA256) with HKDF-SHA256 and AES-128-GCM: for the server,
// and as an ECHConfigList (RFC 9849 section 4).
func helloKeys(publicName string) ([]tlsconf.EncryptedClientHelloKey, []byte) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	withLength := func(to, part []byte) []byte {
		return append(binary.BigEndian.AppendUint16(to, uint16(len(part))), part...)
	}
	contents := []byte{7, 0x00, 0x20}
	contents = withLength(contents, private.PublicKey().Bytes())
	contents = withLength(contents, []byte{0x00, 0x01, 0x00, 0x01})
	contents = append(contents, 0, byte(len(publicName)))
	contents = append(contents, publicName...)
	contents = withLength(contents, nil)
	config := withLength([]byte{0xfe, 0x0d}, contents)
	keys := []tlsconf.EncryptedClientHelloKey{{Config: config, PrivateKey: private.Bytes(), SendAsRetry: true}}
	return keys, withLength(nil, config)
}
