package runner_test

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

// fakeServerEnv makes this test binary play a server: a relay to the PostgreSQL whose address it holds. What is in
// PostgreSQL is then what such a server has made durable, and its connections are what it loses when it ends.
const fakeServerEnv = "TESTDRIVE_FAKE_SERVER"

// fakeServe is the process. Its last argument says how it behaves: "good", "mute" (it ends at once with a message),
// "deaf" (it listens to nobody), "crash" and "leave" (it ends when somebody asks it for a crash, with and without a
// status), "dirty" (it ends with a status when asked to end) or "stubborn" (it does not end).
func fakeServe(target string) int {
	fs := flag.NewFlagSet("serve", flag.ExitOnError)
	fs.String("data-dir", "", "")
	sqlListen := fs.String("sql-listen", "", "")
	fs.String("http-listen", "", "")
	if err := fs.Parse(os.Args[2:]); err != nil {
		return 2
	}
	mode := fs.Arg(0)
	if mode == "mute" {
		fmt.Println("no disk, no glory")
		return 3
	}
	if mode == "deaf" {
		fmt.Println("still looking for the disk")
		select {}
	}
	l, err := net.Listen("tcp", *sqlListen)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		switch mode {
		case "stubborn":
			fmt.Println("there is so much to do")
			return
		case "dirty":
			fmt.Println("something was not written")
			os.Exit(4)
		}
		os.Exit(0)
	}()
	for {
		client, err := l.Accept()
		if err != nil {
			return 1
		}
		go relay(client, target, mode)
	}
}

func relay(client net.Conn, target, mode string) {
	server, err := net.Dial("tcp", target)
	if err != nil {
		client.Close()
		return
	}
	go func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := client.Read(buf)
			switch {
			case !containsCrash(buf[:n]):
			case mode == "crash":
				fmt.Println("panic: asked to")
				os.Exit(5)
			case mode == "leave":
				fmt.Println("enough for today")
				os.Exit(0)
			}
			if _, writeErr := server.Write(buf[:n]); errors.Join(err, writeErr) != nil {
				server.Close()
				return
			}
		}
	}()
	io.Copy(client, server)
	client.Close()
}

func containsCrash(b []byte) bool {
	for i := range b {
		if len(b)-i >= 5 && string(b[i:i+5]) == "crash" {
			return true
		}
	}
	return false
}
