package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// A service of messages that are bytes, as the benchmark of grpc-js has it: what protobuf would cost is left out.
const (
	echoPath   = "/bench.Bench/Echo"
	streamPath = "/bench.Bench/Stream"
	streamed   = 1000
	length     = 100
)

type rawCodec struct{}

func (rawCodec) Name() string                        { return "proto" }
func (rawCodec) Marshal(message any) ([]byte, error) { return *message.(*[]byte), nil }
func (rawCodec) Unmarshal(data []byte, into any) error {
	*into.(*[]byte) = append([]byte(nil), data...)
	return nil
}

func echo(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	var message []byte
	err := decode(&message)
	return &message, err
}

func stream(_ any, calls grpc.ServerStream) error {
	var message []byte
	if err := calls.RecvMsg(&message); err != nil {
		return err
	}
	answer := make([]byte, length)
	for at := 0; at < streamed; at++ {
		if err := calls.SendMsg(&answer); err != nil {
			return err
		}
	}
	return nil
}

var streams = grpc.StreamDesc{StreamName: "Stream", Handler: stream, ServerStreams: true}

// bench serves the service (`serve`) and prints its port, or calls it (`call`) and prints microseconds of CPU and of time.
func bench(args []string) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	port := flags.Int("port", 0, "port of 127.0.0.1")
	kind := flags.String("kind", "echo", "echo or stream")
	atOnce := flags.Int("at-once", 1, "calls at once")
	channels := flags.Int("channels", 1, "connections")
	if len(args) == 0 {
		return fmt.Errorf("usage: grpc-go bench serve|call FLAGS")
	}
	_ = flags.Parse(args[1:])
	if args[0] == "serve" {
		return benchServe(*port)
	}
	return benchCall(*port, *kind, *atOnce, *channels)
}

func benchServe(port int) error {
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.ForceServerCodec(rawCodec{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "bench.Bench",
		HandlerType: (*any)(nil),
		Methods:     []grpc.MethodDesc{{MethodName: "Echo", Handler: echo}},
		Streams:     []grpc.StreamDesc{streams},
	}, nil)
	fmt.Println(listener.Addr().(*net.TCPAddr).Port)
	return server.Serve(listener)
}

// A call of a kind, read to its end.
func once(connection *grpc.ClientConn, kind string) error {
	message, answer := make([]byte, length), []byte(nil)
	if kind == "echo" {
		err := connection.Invoke(context.Background(), echoPath, &message, &answer)
		if err == nil && len(answer) != length {
			err = fmt.Errorf("an answer of %d bytes", len(answer))
		}
		return err
	}
	call, err := connection.NewStream(context.Background(), &streams, streamPath)
	if err != nil {
		return err
	}
	if err := call.SendMsg(&message); err != nil {
		return err
	}
	if err := call.CloseSend(); err != nil {
		return err
	}
	for at := 0; ; at++ {
		err := call.RecvMsg(&answer)
		if err == io.EOF && at == streamed {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%w behind %d messages", err, at)
		}
	}
}

func benchCall(port int, kind string, atOnce, channels int) error {
	var connections []*grpc.ClientConn
	for at := 0; at < channels; at++ {
		connection, err := grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", port),
			grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithDefaultCallOptions(grpc.ForceCodec(rawCodec{})))
		if err != nil {
			return err
		}
		connections = append(connections, connection)
	}
	// A line of standard input begins a measurement with as many calls; its end ends the program.
	for {
		var count int
		if _, err := fmt.Scanln(&count); err != nil {
			return nil
		}
		before, began := cpu(), time.Now()
		var next atomic.Int64
		var all sync.WaitGroup
		failed := make(chan error, atOnce)
		for worker := 0; worker < atOnce; worker++ {
			all.Add(1)
			go func() {
				defer all.Done()
				for at := next.Add(1) - 1; at < int64(count); at = next.Add(1) - 1 {
					if err := once(connections[at%int64(channels)], kind); err != nil {
						failed <- err
						return
					}
				}
			}()
		}
		all.Wait()
		close(failed)
		if err := <-failed; err != nil {
			return err
		}
		fmt.Println(cpu()-before, time.Since(began).Microseconds())
	}
}

// cpu is the user and kernel time of every thread, microseconds.
func cpu() int64 {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return (usage.Utime.Nano() + usage.Stime.Nano()) / 1000
}
