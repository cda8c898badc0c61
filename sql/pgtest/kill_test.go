package pgtest_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/tributary-db/tributary/sql/pgtest"
)

// childEnv makes this test binary play the process that is killed.
const childEnv = "PGTEST_CHILD"

// G1: a killed test process takes its server along.
func TestServerEndsWithAKilledProcess(t *testing.T) {
	pgtest.Start(t) // Skips where there is no PostgreSQL.
	child := exec.Command(os.Args[0], "-test.run=TestChildStartsAServer$", "-test.v")
	child.Env = append(os.Environ(), childEnv+"=1")
	in, err := child.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	var url string
	for lines := bufio.NewScanner(out); url == "" && lines.Scan(); {
		fmt.Sscanf(lines.Text(), "url=%s", &url)
	}
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if _, err := conn.WaitForNotification(ctx); ctx.Err() != nil {
		t.Errorf("the server outlived its process: %v", err)
	}
	child.Wait()
}

func TestChildStartsAServer(t *testing.T) {
	if os.Getenv(childEnv) == "" {
		t.Skip("only as the child of another test")
	}
	fmt.Printf("url=%s\n", pgtest.Start(t).URL)
	bufio.NewReader(os.Stdin).ReadString('\n')
}
