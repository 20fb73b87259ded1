// grpc-go's interop suite as a foreign server (`serve`) and as a foreign client (`call`, one case per process), and small calls
// that are measured (`bench`).
package main

import (
	"fmt"
	"os"
)

func main() {
	usage := "usage: grpc-go serve|call|bench FLAGS"
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(os.Args[2:])
	case "call":
		err = call(os.Args[2:])
	case "bench":
		err = bench(os.Args[2:])
	default:
		err = fmt.Errorf("%s", usage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
