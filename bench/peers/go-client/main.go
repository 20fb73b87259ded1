// Go's net/http as a client.
//
//	go-client transfer h2|h1 URL SECONDS     one line `bytes seconds` per transfer
//	go-client burst h2 URL COUNT SECONDS     one line `answered failed seconds reason`
package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

func newClient(kind string) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(kind == "h2")
	return &http.Client{Transport: &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 2 * time.Second}).DialContext,
		TLSHandshakeTimeout: 2 * time.Second,
		TLSClientConfig:     &tls.Config{InsecureSkipVerify: true},
		Protocols:           protocols,
	}}
}

func main() {
	if len(os.Args) < 5 {
		log.Fatal("usage: see the head of the source")
	}
	client, url := newClient(os.Args[2]), os.Args[3]
	most, err := strconv.ParseFloat(os.Args[len(os.Args)-1], 64)
	if err != nil {
		log.Fatal(err)
	}
	limit := time.Duration(most * float64(time.Second))
	if os.Args[1] == "transfer" {
		transfer(client, url, limit)
		return
	}
	count, err := strconv.Atoi(os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	burst(client, url, count, limit)
}

func transfer(client *http.Client, url string, limit time.Duration) {
	if _, err := get(context.Background(), client, url+"/1024"); err != nil {
		log.Fatal(err)
	}
	for range 2 {
		start := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), limit)
		bytes, err := get(ctx, client, fmt.Sprintf("%s/%d", url, 64<<20))
		if err != nil && ctx.Err() == nil {
			log.Fatal(err)
		}
		cancel()
		fmt.Printf("%d %.6f\n", bytes, time.Since(start).Seconds())
	}
}

func get(ctx context.Context, client *http.Client, url string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, "GET", url, nil)
	if err != nil {
		return 0, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	return io.CopyBuffer(io.Discard, response.Body, make([]byte, 64<<10))
}

func burst(client *http.Client, url string, count int, limit time.Duration) {
	start := time.Now()
	settled := make(chan error, count)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	for number := 1; number <= count; number++ {
		go func() {
			_, err := get(ctx, client, fmt.Sprintf("%s/%d", url, number))
			settled <- err
		}()
	}
	answered, failed, reason, last := 0, 0, "", start
	for range count {
		err := <-settled
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			failed++
			reason = strings.ReplaceAll(err.Error(), "\n", " ")
		} else {
			answered++
		}
		last = time.Now()
	}
	fmt.Printf("%d %d %.6f %s\n", answered, failed, last.Sub(start).Seconds(), reason)
}
