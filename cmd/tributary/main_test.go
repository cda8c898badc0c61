package main

import (
	"net"
	"strings"
	"testing"
)

// TestUnknownCommandsAreErrors: a script that misspells a command must not take help for success.
func TestUnknownCommandsAreErrors(t *testing.T) {
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"server"}, []string{`unknown command "server"`, "\tserve\n"}},
		{[]string{"bench", "view-sinks"}, []string{`unknown command "view-sinks"`}},
	} {
		out, err := tributary(t, c.args...)
		if err == nil {
			t.Errorf("%q is no error:\n%s", c.args, out)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", c.args, err, want)
			}
		}
	}
	for _, args := range [][]string{{}, {"bench"}, {"bench", "--help"}} {
		if out, err := tributary(t, args...); err != nil || !strings.Contains(out, "Available Commands:") {
			t.Errorf("%q: %v\n%s", args, err, out)
		}
	}
}

// TestTakenAddressNamesItsFlag: who starts a second server learns which flag gives it another address.
func TestTakenAddressNamesItsFlag(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for flag, other := range map[string]string{"--sql-listen": "--http-listen", "--http-listen": "--sql-listen"} {
		_, err := tributary(t, "serve", "--in-memory", flag, taken.Addr().String(), other, "127.0.0.1:0")
		if err == nil || !strings.Contains(err.Error(), "("+flag+"): ") || !strings.Contains(err.Error(), "address already in use") {
			t.Errorf("%s: %v", flag, err)
		}
	}
}
