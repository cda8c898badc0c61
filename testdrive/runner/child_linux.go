package runner

import "syscall"

// childAttributes make the server end with us, however we end, and keep the terminal's Ctrl-C from it: we end it in
// good order ourselves.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
}
