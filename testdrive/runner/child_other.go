//go:build !linux

package runner

import "syscall"

// childAttributes keep the terminal's Ctrl-C from the server: we end it in good order ourselves.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
