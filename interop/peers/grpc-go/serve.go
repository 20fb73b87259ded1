package main

import (
	"flag"
	"fmt"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/interop"
	"google.golang.org/grpc/interop/grpc_testing"
)

// serve runs grpc-go's test service in the clear on one address and over TLS on another, and prints both, as port 0 is any
// that is free.
func serve(args []string) error {
	flags := flag.NewFlagSet("serve", flag.ExitOnError)
	clear := flags.String("clear", "", "address of cleartext HTTP/2")
	secure := flags.String("tls", "", "address of TLS")
	chain := flags.String("cert", "", "file of the certificate")
	key := flags.String("key", "", "file of its key")
	_ = flags.Parse(args)
	certificate, err := credentials.NewServerTLSFromFile(*chain, *key)
	if err != nil {
		return err
	}
	ended := make(chan error)
	start := func(name, address string, options ...grpc.ServerOption) error {
		listener, err := net.Listen("tcp", address)
		if err != nil {
			return err
		}
		fmt.Println(name, listener.Addr())
		server := grpc.NewServer(options...)
		grpc_testing.RegisterTestServiceServer(server, interop.NewTestServer())
		go func() { ended <- server.Serve(listener) }()
		return nil
	}
	if err := start("clear", *clear); err != nil {
		return err
	}
	if err := start("tls", *secure, grpc.Creds(certificate)); err != nil {
		return err
	}
	return <-ended
}
