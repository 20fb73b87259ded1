// A TLS server that misbehaves to order and counts what clients do to it.
//
//	burst-server -scenario NAME -address HOST:PORT -cert FILE -key FILE
//
// It prints `ready`, serves until its standard input ends, and then prints
// `sockets handshakes refused twice`. Every request is for `/NUMBER`; one that is processed a second
// time counts as delivered twice, one that is refused (REFUSED_STREAM, or beyond the last stream
// of a GOAWAY) was not processed.
package main

import (
	"bytes"
	"crypto/tls"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// Behaviour of connections; the event comes with the stream of that number, on the first connection.
type plan struct {
	h1, silent  bool
	streams     uint32 // SETTINGS_MAX_CONCURRENT_STREAMS at the start
	later       uint32 // what it becomes with the event; 0: stays
	event       int    // 0: none
	goaway, die bool
}

var plans = map[string]plan{
	"h2-100":     {streams: 100},
	"h2-10":      {streams: 10},
	"h2-lowered": {streams: 20, later: 1, event: 10},
	"h2-raised":  {streams: 10, later: 200, event: 5},
	"h1":         {h1: true},
	"black-hole": {silent: true},
	"goaway":     {streams: 100, event: 50, goaway: true},
	"killed":     {streams: 100, event: 50, die: true},
}

// How long a request takes.
const delay = 20 * time.Millisecond

type counters struct {
	sync.Mutex
	sockets, handshakes, refused, twice int
	seen                                map[string]bool
	eventDone                           bool
}

func (c *counters) deliver(path string) {
	c.Lock()
	defer c.Unlock()
	if c.seen[path] {
		c.twice++
	}
	c.seen[path] = true
}

func main() {
	name := flag.String("scenario", "", "what to do")
	address := flag.String("address", "", "where to listen")
	cert := flag.String("cert", "", "certificate chain, PEM")
	key := flag.String("key", "", "private key, PEM")
	flag.Parse()
	plan, known := plans[*name]
	if !known {
		log.Fatalf("no scenario %q", *name)
	}
	pair, err := tls.LoadX509KeyPair(*cert, *key)
	if err != nil {
		log.Fatal(err)
	}
	config := &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{"h2"}}
	if plan.h1 {
		config.NextProtos = []string{"http/1.1"}
	}
	listener, err := net.Listen("tcp", *address)
	if err != nil {
		log.Fatal(err)
	}
	count := &counters{seen: map[string]bool{}}
	fmt.Println("ready")
	go func() {
		for {
			socket, err := listener.Accept()
			if err != nil {
				log.Fatal(err)
			}
			count.Lock()
			count.sockets++
			count.Unlock()
			if !plan.silent {
				go serve(tls.Server(socket, config), plan, count)
			}
		}
	}()
	io.Copy(io.Discard, os.Stdin)
	count.Lock()
	fmt.Println(count.sockets, count.handshakes, count.refused, count.twice)
}

func serve(socket *tls.Conn, plan plan, count *counters) {
	defer socket.Close()
	if socket.Handshake() != nil {
		return
	}
	count.Lock()
	count.handshakes++
	count.Unlock()
	if plan.h1 {
		serveH1(socket, count)
		return
	}
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(socket, preface); err != nil {
		return
	}
	c := &conn{socket: socket, framer: http2.NewFramer(socket, socket), plan: plan, count: count, limit: plan.streams}
	c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	c.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: plan.streams})
	c.run()
}

type conn struct {
	sync.Mutex
	socket  *tls.Conn
	framer  *http2.Framer
	plan    plan
	count   *counters
	limit   uint32 // what the client has acknowledged
	active  uint32
	streams int
	last    uint32 // of the GOAWAY; 0: none
}

func (c *conn) run() {
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		c.Lock()
		switch frame := frame.(type) {
		case *http2.MetaHeadersFrame:
			c.open(frame)
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				c.framer.WriteSettingsAck()
			} else if c.plan.later != 0 && c.streams >= c.plan.event {
				c.limit = c.plan.later
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				c.framer.WritePing(true, frame.Data)
			}
		}
		c.Unlock()
	}
}

func (c *conn) open(frame *http2.MetaHeadersFrame) {
	id := frame.StreamID
	if c.last != 0 {
		return // beyond the GOAWAY: the client knows that nobody processes it
	}
	c.streams++
	if c.active >= c.limit {
		c.count.Lock()
		c.count.refused++
		c.count.Unlock()
		c.framer.WriteRSTStream(id, http2.ErrCodeRefusedStream)
		return
	}
	c.active++
	c.count.deliver(frame.PseudoValue("path"))
	if c.streams == c.plan.event && c.event(id) {
		return
	}
	time.AfterFunc(delay, func() { c.answer(id) })
}

// The event, once in a run. True: the connection is dead.
func (c *conn) event(id uint32) bool {
	c.count.Lock()
	first := !c.count.eventDone
	c.count.eventDone = true
	c.count.Unlock()
	switch {
	case c.plan.die && first:
		c.socket.NetConn().(*net.TCPConn).SetLinger(0)
		c.socket.NetConn().Close()
		return true
	case c.plan.goaway && first:
		c.last = id
		c.framer.WriteGoAway(id, http2.ErrCodeNo, nil)
	case c.plan.later != 0:
		c.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: c.plan.later})
	}
	return false
}

func (c *conn) answer(id uint32) {
	c.Lock()
	defer c.Unlock()
	c.active--
	// An encoder without a dynamic table: every block stands alone.
	var block bytes.Buffer
	hpack.NewEncoder(&block).WriteField(hpack.HeaderField{Name: ":status", Value: "200", Sensitive: true})
	c.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: block.Bytes(), EndHeaders: true})
	c.framer.WriteData(id, true, []byte("ok"))
	if c.last != 0 && c.active == 0 {
		c.socket.Close()
	}
}

func serveH1(socket *tls.Conn, count *counters) {
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		count.deliver(r.URL.Path)
		time.Sleep(delay)
		io.WriteString(w, "ok")
	})}
	server.Serve(&single{socket: socket, done: make(chan struct{})})
}

// A listener of one connection.
type single struct {
	socket net.Conn
	done   chan struct{}
	taken  bool
}

func (s *single) Accept() (net.Conn, error) {
	if s.taken {
		<-s.done
		return nil, net.ErrClosed
	}
	s.taken = true
	return &closing{s.socket, s.done, sync.Once{}}, nil
}
func (s *single) Close() error   { return nil }
func (s *single) Addr() net.Addr { return s.socket.LocalAddr() }

type closing struct {
	net.Conn
	done chan struct{}
	once sync.Once
}

func (c *closing) Close() error {
	c.once.Do(func() { close(c.done) })
	return c.Conn.Close()
}
