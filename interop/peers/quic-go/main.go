// quic-go's HTTP/3 as a foreign server (`serve`) and as a foreign client (`fetch`).
package main

import (
	"fmt"
	"os"
	"time"
)

// patience is how long a handshake may stand still: a busy machine takes more than quic-go's five seconds.
const patience = time.Minute

func main() {
	usage := "usage: quic-go serve|fetch FLAGS"
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, usage)
		os.Exit(2)
	}
	var err error
	switch os.Args[1] {
	case "serve":
		err = serve(os.Args[2:])
	case "fetch":
		err = fetch(os.Args[2:])
	default:
		err = fmt.Errorf("%s", usage)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
