package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/interop"
	"google.golang.org/grpc/interop/grpc_testing"
)

// callMax bounds one case, so that a server that does not answer fails it.
const callMax = 2 * time.Minute

type (
	service = grpc_testing.TestServiceClient
	options = []grpc.CallOption
)

// cases take call options; each ends the process with the reason where it fails.
var cases = map[string]func(context.Context, service, ...grpc.CallOption){
	"empty_unary":                 interop.DoEmptyUnaryCall,
	"large_unary":                 interop.DoLargeUnaryCall,
	"client_streaming":            interop.DoClientStreaming,
	"server_streaming":            interop.DoServerStreaming,
	"ping_pong":                   interop.DoPingPong,
	"empty_stream":                interop.DoEmptyStream,
	"timeout_on_sleeping_server":  interop.DoTimeoutOnSleepingServer,
	"cancel_after_begin":          interop.DoCancelAfterBegin,
	"cancel_after_first_response": interop.DoCancelAfterFirstResponse,
	"status_code_and_message":     interop.DoStatusCodeAndMessage,
	"special_status_message":      interop.DoSpecialStatusMessage,
	"custom_metadata":             interop.DoCustomMetadata,
}

// call runs one case against a server.
func call(args []string) error {
	flags := flag.NewFlagSet("call", flag.ExitOnError)
	server := flags.String("server", "", "address of the server")
	root := flags.String("root", "", "file of the trusted certificate; without it the server is called in the clear")
	compressed := flags.Bool("gzip", false, "compress every message of the client")
	_ = flags.Parse(args)
	trust := insecure.NewCredentials()
	if *root != "" {
		var err error
		if trust, err = credentials.NewClientTLSFromFile(*root, "localhost"); err != nil {
			return err
		}
	}
	open := func() (*grpc.ClientConn, error) {
		return grpc.NewClient("passthrough:///"+*server, grpc.WithTransportCredentials(trust))
	}
	channel, err := open()
	if err != nil {
		return err
	}
	defer channel.Close()
	ctx, cancel := context.WithTimeout(context.Background(), callMax)
	defer cancel()
	var given options
	if *compressed {
		given = append(given, grpc.UseCompressor(gzip.Name))
	}
	client := grpc_testing.NewTestServiceClient(channel)
	switch name := flags.Arg(0); name {
	case "unimplemented_method":
		interop.DoUnimplementedMethod(ctx, channel)
	case "unimplemented_service":
		interop.DoUnimplementedService(ctx, grpc_testing.NewUnimplementedServiceClient(channel))
	case "pick_first_unary":
		interop.DoPickFirstUnary(ctx, client)
	case "rpc_soak":
		soak(ctx, *server, func() (*grpc.ClientConn, func()) { return channel, func() {} })
	case "channel_soak":
		soak(ctx, *server, func() (*grpc.ClientConn, func()) {
			fresh, err := open()
			if err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			return fresh, func() { _ = fresh.Close() }
		})
	default:
		run, ok := cases[name]
		if !ok {
			return fmt.Errorf("no case %q", name)
		}
		run(ctx, client, given...)
	}
	fmt.Println("passed")
	return nil
}

// soak makes large calls on several workers. Latency is not judged: the machine may be busy.
func soak(ctx context.Context, server string, open func() (*grpc.ClientConn, func())) {
	interop.DoSoakTest(ctx, interop.SoakTestConfig{
		RequestSize:                      271828,
		ResponseSize:                     314159,
		PerIterationMaxAcceptableLatency: callMax,
		OverallTimeout:                   callMax,
		ServerAddr:                       server,
		NumWorkers:                       8,
		Iterations:                       80,
		ChannelForTest:                   open,
	})
}
