package main

import (
	"fmt"
	"syscall"
)

// minFiles is how many files a server must be able to have open: about 20 that it always has, as many for what is written and
// read at once, and those of some clients. With less, the stores fail in the middle of what they do.
const minFiles = 128

// checkOpenFiles refuses to run with too low a limit on open files. Go raises the soft limit to the hard one by itself.
func checkOpenFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("read the limit on open files: %w", err)
	}
	if limit.Cur < minFiles {
		return fmt.Errorf("no more than %d files may be open, and a server needs %d: raise it (ulimit -n, or systemd's LimitNOFILE=)",
			limit.Cur, minFiles)
	}
	return nil
}
