package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// client is what the cases share: one HTTP/3 connection, opened by the first request.
type client struct {
	base      string
	transport *http3.Transport
	// The connections that were opened.
	opened []*quic.Conn
	// New keys on all of them.
	updates keyUpdates
	mutex   sync.Mutex
}

func fetch(args []string) error {
	flags := flag.NewFlagSet("fetch", flag.ExitOnError)
	base := flags.String("url", "", "where the server is: https://host:port")
	root := flags.String("root", "", "certificate to trust, PEM")
	connections := flags.Int("connections", 1, "of case many")
	streams := flags.Int("streams", 1, "at once per connection, of case many")
	requests := flags.Int("requests", 1, "in all, of cases many and hold")
	flags.Parse(args)

	pem, err := os.ReadFile(*root)
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	open := func() *client { return newClient(*base, roots) }
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Second)
	defer cancel()
	switch flags.Arg(0) {
	case "get":
		return open().get(ctx)
	case "head":
		return open().head(ctx)
	case "echo":
		return open().echo(ctx)
	case "trailers":
		return open().trailers(ctx)
	case "continue":
		return open().expectContinue(ctx)
	case "hints":
		return open().hints(ctx)
	case "reset":
		return open().reset(ctx)
	case "cancel":
		return open().cancel(ctx)
	case "refuse":
		return open().refuse(ctx)
	case "hold":
		return open().hold(ctx, *requests)
	case "keys":
		return open().keys(ctx)
	case "early":
		return early(ctx, open)
	case "migrate":
		return open().migrate(ctx)
	case "many":
		return many(ctx, open, *connections, *streams, *requests)
	}
	return fmt.Errorf("no case %q", flags.Arg(0))
}

func newClient(base string, roots *x509.CertPool) *client {
	c := &client{base: base}
	c.transport = &http3.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: roots},
		DisableCompression: true,
		Dial: func(ctx context.Context, address string, tls *tls.Config, config *quic.Config) (*quic.Conn, error) {
			remote, err := net.ResolveUDPAddr("udp4", address)
			if err != nil {
				return nil, err
			}
			// A transport gives connections ids, without which none can move.
			transport, err := newTransport()
			if err != nil {
				return nil, err
			}
			config = config.Clone()
			config.HandshakeIdleTimeout = patience
			config.Tracer = func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
				return &c.updates
			}
			conn, err := transport.DialEarly(ctx, remote, tls, config)
			if err == nil {
				c.mutex.Lock()
				c.opened = append(c.opened, conn)
				c.mutex.Unlock()
			}
			return conn, err
		},
	}
	return c
}

func newTransport() (*quic.Transport, error) {
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	return &quic.Transport{Conn: socket}, nil
}

func (c *client) do(ctx context.Context, method, path string, body io.Reader) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.base+path, body)
	if err != nil {
		return nil, err
	}
	return c.transport.RoundTrip(request)
}

// whole makes a request and reads the answer's body.
func (c *client) whole(ctx context.Context, method, path string, body io.Reader) (*http.Response, []byte, error) {
	response, err := c.do(ctx, method, path, body)
	if err != nil {
		return nil, nil, err
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	return response, read, err
}

func (c *client) get(ctx context.Context) error {
	response, body, err := c.whole(ctx, "GET", "/version", nil)
	if err != nil {
		return err
	}
	fmt.Println(response.Proto, response.StatusCode, string(body))
	return nil
}

func (c *client) head(ctx context.Context) error {
	response, body, err := c.whole(ctx, "HEAD", "/bytes/1024", nil)
	if err != nil {
		return err
	}
	fmt.Println(response.StatusCode, response.Header.Get("content-length"), len(body))
	return nil
}

// tenMebibytes has no part that is like another: a lost or doubled frame shows.
func tenMebibytes() []byte {
	made := make([]byte, 0, 10<<20)
	for word := uint32(0); word < 10<<20/4; word++ {
		made = binary.LittleEndian.AppendUint32(made, word*0x9E3779B9)
	}
	return made
}

func (c *client) echo(ctx context.Context) error {
	sent := tenMebibytes()
	_, body, err := c.whole(ctx, "POST", "/echo", bytes.NewReader(sent))
	if err != nil {
		return err
	}
	fmt.Println("same:", bytes.Equal(body, sent))
	return nil
}

func (c *client) trailers(ctx context.Context) error {
	// Without a known length, as the trailers come behind a body that is streamed.
	body := io.MultiReader(bytes.NewReader([]byte("body")))
	request, err := http.NewRequestWithContext(ctx, "POST", c.base+"/trailers", body)
	if err != nil {
		return err
	}
	request.Trailer = http.Header{"X-Sent": {"theirs"}}
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	fmt.Println(string(read), response.Trailer.Get("x-heard"))
	return nil
}

func (c *client) expectContinue(ctx context.Context) error {
	interim := make(chan int, 8)
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, _ textproto.MIMEHeader) error {
		interim <- code
		return nil
	}}
	// The body comes only after the server has asked for it.
	reader, writer := io.Pipe()
	request, err := http.NewRequestWithContext(httptrace.WithClientTrace(ctx, trace), "POST", c.base+"/count", reader)
	if err != nil {
		return err
	}
	request.Header.Set("expect", "100-continue")
	go func() {
		select {
		case code := <-interim:
			fmt.Println("interim", code)
			writer.Write([]byte("hello"))
			writer.Close()
		case <-ctx.Done():
			writer.CloseWithError(ctx.Err())
		}
	}()
	response, err := c.transport.RoundTrip(request)
	if err != nil {
		return err
	}
	read, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	fmt.Println(response.StatusCode, string(read))
	return nil
}

// hints gets a link before the answer.
func (c *client) hints(ctx context.Context) error {
	trace := &httptrace.ClientTrace{Got1xxResponse: func(code int, head textproto.MIMEHeader) error {
		fmt.Println("interim", code, head.Get("link"))
		return nil
	}}
	response, body, err := c.whole(httptrace.WithClientTrace(ctx, trace), "GET", "/early", nil)
	if err != nil {
		return err
	}
	fmt.Println(response.StatusCode, string(body))
	return nil
}

func code(err error) string {
	var broken *http3.Error
	if errors.As(err, &broken) {
		return fmt.Sprintf("%#x remote=%v", uint64(broken.ErrorCode), broken.Remote)
	}
	return fmt.Sprintf("%v", err)
}

// again says that the first connection still serves.
func (c *client) again(ctx context.Context) error {
	_, body, err := c.whole(ctx, "GET", "/bytes/1024", nil)
	if err != nil {
		return err
	}
	fmt.Println("again", len(body), "connections", len(c.opened))
	return nil
}

// reset gets the end of an answer whose first part it has read.
func (c *client) reset(ctx context.Context) error {
	response, err := c.do(ctx, "GET", "/cut", nil)
	if err != nil {
		return err
	}
	if _, err := io.ReadFull(response.Body, make([]byte, 512)); err != nil {
		return err
	}
	if _, _, err := c.whole(ctx, "GET", "/release", nil); err != nil {
		return err
	}
	_, err = io.ReadAll(response.Body)
	fmt.Println("reset", code(err))
	return c.again(ctx)
}

func (c *client) cancel(ctx context.Context) error {
	giveUp, cancel := context.WithCancel(ctx)
	response, err := c.do(giveUp, "GET", "/never", nil)
	if err != nil {
		cancel()
		return err
	}
	cancel()
	_, err = io.ReadAll(response.Body)
	fmt.Println("given up:", err != nil)
	if _, body, err := c.whole(ctx, "GET", "/gone", nil); err != nil {
		return err
	} else {
		fmt.Println(string(body))
	}
	return c.again(ctx)
}

func (c *client) refuse(ctx context.Context) error {
	response, _, err := c.whole(ctx, "POST", "/refuse", bytes.NewReader(tenMebibytes()))
	if err != nil {
		return err
	}
	fmt.Println("refused", response.StatusCode)
	return c.again(ctx)
}

// keyUpdates counts the times that the keys changed, whichever side began (RFC 9001 section 6).
type keyUpdates struct{ count atomic.Int64 }

func (k *keyUpdates) AddProducer() qlogwriter.Recorder { return k }
func (k *keyUpdates) Close() error                     { return nil }
func (k *keyUpdates) RecordEvent(event qlogwriter.Event) {
	update, is := event.(qlog.KeyUpdated)
	// Each update is reported for both directions, and the first keys as one too.
	if is && update.Trigger != qlog.KeyUpdateTLS && update.KeyType == qlog.KeyTypeClient1RTT {
		k.count.Add(1)
	}
}

// keys downloads across the first update: quic-go begins it after a hundred packets where the server
// has not before. The next would come after a hundred thousand.
func (c *client) keys(ctx context.Context) error {
	for range 2 {
		_, body, err := c.whole(ctx, "GET", "/ten", nil)
		if err != nil {
			return err
		}
		fmt.Println("same:", bytes.Equal(body, tenMebibytes()))
	}
	fmt.Println("new keys", c.updates.count.Load())
	return nil
}

// sessions are what servers gave, and a sign for each that came.
type sessions struct {
	tls.ClientSessionCache
	came chan struct{}
}

func (s *sessions) Put(key string, session *tls.ClientSessionState) {
	s.ClientSessionCache.Put(key, session)
	if session == nil {
		return
	}
	select {
	case s.came <- struct{}{}:
	default:
	}
}

// early makes requests over connections of their own, of which each gives the session that the next
// one resumes. One of them goes out with its handshake.
func early(ctx context.Context, open func() *client) error {
	cache := tls.NewLRUClientSessionCache(1)
	for _, method := range []string{"GET", http3.MethodGet0RTT, "POST"} {
		for {
			heard, taken, err := resume(ctx, open(), cache, method)
			if err != nil {
				return err
			}
			// On a busy machine the handshake may be done before the request is written.
			if method == http3.MethodGet0RTT && heard == "200 late" {
				continue
			}
			fmt.Println(heard, "taken:", taken)
			break
		}
	}
	return nil
}

// resume makes one request and waits for a new session.
func resume(ctx context.Context, c *client, cache tls.ClientSessionCache, method string) (string, bool, error) {
	sessions := &sessions{cache, make(chan struct{}, 1)}
	c.transport.TLSClientConfig.ClientSessionCache = sessions
	response, body, err := c.whole(ctx, method, "/when", nil)
	if err != nil {
		return "", false, err
	}
	taken := c.opened[0].ConnectionState().Used0RTT
	select {
	case <-sessions.came:
	case <-ctx.Done():
		return "", false, ctx.Err()
	}
	return fmt.Sprintf("%d %s", response.StatusCode, body), taken, c.transport.Close()
}

// hold has many answers under way until the server lets go and the connection ends.
func (c *client) hold(ctx context.Context, requests int) error {
	var answers []*http.Response
	for range requests {
		response, err := c.do(ctx, "GET", "/hold", nil)
		if err != nil {
			return err
		}
		answers = append(answers, response)
	}
	fmt.Println("held", len(answers))
	whole := 0
	for _, response := range answers {
		read, err := io.ReadAll(response.Body)
		if err != nil {
			return fmt.Errorf("after %d whole answers: %w", whole, err)
		}
		if string(read) == "held and let go" {
			whole++
		}
	}
	fmt.Println("whole", whole)
	<-c.opened[0].Context().Done()
	var end *quic.ApplicationError
	if cause := context.Cause(c.opened[0].Context()); !errors.As(cause, &end) {
		return fmt.Errorf("the connection ended otherwise: %w", cause)
	}
	fmt.Printf("connections %d end %#x\n", len(c.opened), uint64(end.ErrorCode))
	return nil
}

// migrate moves to another socket in the middle of a download.
func (c *client) migrate(ctx context.Context) error {
	response, err := c.do(ctx, "GET", "/ten", nil)
	if err != nil {
		return err
	}
	first := make([]byte, 1<<20)
	if _, err := io.ReadFull(response.Body, first); err != nil {
		return err
	}
	elsewhere, err := newTransport()
	if err != nil {
		return err
	}
	path, err := c.opened[0].AddPath(elsewhere)
	if err != nil {
		return err
	}
	if err := path.Probe(ctx); err != nil {
		return fmt.Errorf("the new path is not proven: %w", err)
	}
	if err := path.Switch(); err != nil {
		return err
	}
	rest, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	same := bytes.Equal(append(first, rest...), tenMebibytes())
	fmt.Println("same:", same, "connections", len(c.opened))
	return nil
}

// many spreads requests over connections, with some streams at once on each.
func many(ctx context.Context, open func() *client, connections, streams, requests int) error {
	var group sync.WaitGroup
	var mutex sync.Mutex
	answered, failures := 0, []error{}
	left := make(chan struct{}, requests)
	for range requests {
		left <- struct{}{}
	}
	close(left)
	for range connections {
		c := open()
		for range streams {
			group.Go(func() {
				for range left {
					response, body, err := c.whole(ctx, "GET", "/bytes/1024", nil)
					mutex.Lock()
					if err != nil {
						failures = append(failures, err)
					} else if response.StatusCode == 200 && len(body) == 1024 {
						answered++
					}
					mutex.Unlock()
				}
			})
		}
	}
	group.Wait()
	fmt.Println("answered", answered)
	if len(failures) > 0 {
		return fmt.Errorf("%d failed, the first: %w", len(failures), failures[0])
	}
	return nil
}
