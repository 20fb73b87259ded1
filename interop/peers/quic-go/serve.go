package main

import (
	"context"
	"crypto/tls"
	"flag"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
)

// origin serves HTTP/3 on one UDP port; its http3.Server is replaced when it shuts down.
type origin struct {
	listener *quic.EarlyListener
	handler  http.Handler
	mutex    sync.Mutex
	current  *http3.Server
}

func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	address := flags.String("listen", "", "address: HTTP/3 on UDP, HTTP/1.1 and HTTP/2 on TCP")
	cert := flags.String("cert", "", "certificate chain, PEM")
	key := flags.String("key", "", "private key, PEM")
	retry := flags.Bool("retry", false, "ask every client for proof of its address")
	early := flags.Bool("early", false, "take requests with the handshake")
	flags.Parse(args)

	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		return err
	}
	local, err := net.ResolveUDPAddr("udp", *address)
	if err != nil {
		return err
	}
	socket, err := net.ListenUDP("udp", local)
	if err != nil {
		return err
	}
	transport := &quic.Transport{Conn: socket}
	if *retry {
		transport.VerifySourceAddress = func(net.Addr) bool { return true }
	}
	config := http3.ConfigureTLSConfig(&tls.Config{Certificates: []tls.Certificate{pair}})
	listener, err := transport.ListenEarly(config, &quic.Config{Allow0RTT: *early, HandshakeIdleTimeout: patience})
	if err != nil {
		return err
	}
	o := &origin{listener: listener}
	o.handler = routes(o)
	o.start()
	return overTCP(o, *address, *cert, *key)
}

// overTCP serves the same, and says with every answer that it is also there over QUIC.
func overTCP(o *origin, address, cert, key string) error {
	said := func(w http.ResponseWriter, r *http.Request) {
		o.server().SetQUICHeaders(w.Header())
		o.handler.ServeHTTP(w, r)
	}
	quiet := log.New(io.Discard, "", 0)
	server := &http.Server{Addr: address, Handler: http.HandlerFunc(said), ErrorLog: quiet}
	return server.ListenAndServeTLS(cert, key)
}

func (o *origin) server() *http3.Server {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	return o.current
}

// start puts a new server on the listener.
func (o *origin) start() *http3.Server {
	o.mutex.Lock()
	defer o.mutex.Unlock()
	last := o.current
	o.current = &http3.Server{Handler: o.handler, ConnContext: withConn}
	go o.current.ServeListener(o.listener)
	return last
}

// ofConn is where a request's context has its connection.
type ofConn struct{}

func withConn(ctx context.Context, conn *quic.Conn) context.Context {
	return context.WithValue(ctx, ofConn{}, conn)
}

func routes(o *origin) http.Handler {
	routes := http.NewServeMux()
	text := []byte(strings.Repeat("x", 1024))
	gone := make(chan struct{}, 1000)
	routes.HandleFunc("/bytes/1024", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("content-length", "1024")
		w.Write(text)
	})
	routes.HandleFunc("/version", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Proto)
	})
	routes.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		io.Copy(w, r.Body)
	})
	routes.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("trailer", "x-heard, x-sum")
		w.Write(body)
		w.Header().Set("x-heard", r.Trailer.Get("x-sent"))
		w.Header().Set("x-sum", "42")
	})
	routes.HandleFunc("/early", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("link", "</style.css>; rel=preload")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Del("link")
		io.WriteString(w, "done")
	})
	// Whether data of the client came with the handshake.
	routes.HandleFunc("/when", func(w http.ResponseWriter, r *http.Request) {
		conn, is := r.Context().Value(ofConn{}).(*quic.Conn)
		if is && conn.ConnectionState().Used0RTT {
			io.WriteString(w, "early")
		} else {
			io.WriteString(w, "late")
		}
	})
	routes.HandleFunc("/reset", func(w http.ResponseWriter, r *http.Request) {
		w.Write(text[:512])
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	})
	// Answers without reading the body: the rest of it is not wanted (STOP_SENDING).
	routes.HandleFunc("/refuse", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	// Ends when the client gives up; `/gone` waits for one such end.
	routes.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) {
		w.Write(text)
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		gone <- struct{}{}
	})
	routes.HandleFunc("/gone", func(w http.ResponseWriter, r *http.Request) {
		select {
		case <-gone:
			io.WriteString(w, "gone")
		case <-r.Context().Done():
		}
	})
	// This connection ends with what is under way (GOAWAY); a new one finds a new server.
	routes.HandleFunc("/last", func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 3 {
			go o.start().Shutdown(context.Background())
		}
		io.WriteString(w, "last")
	})
	return routes
}
