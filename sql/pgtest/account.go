package pgtest

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is who the server runs as: ourselves, or somebody without rights when we are root, whom initdb refuses.
type account struct {
	other    bool
	uid, gid int
}

// serverAccount picks ourselves, or the first of two unprivileged users that every Debian has.
func serverAccount() (account, error) {
	if os.Geteuid() != 0 {
		return account{uid: os.Geteuid(), gid: os.Getegid()}, nil
	}
	for _, name := range [...]string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if uidErr == nil && gidErr == nil {
			return account{other: true, uid: uid, gid: gid}, nil
		}
	}
	return account{}, fmt.Errorf("%w: we are root, initdb refuses root, and there is no user postgres or nobody", errAbsent)
}

// makeDir makes the server's directory. Root's own temporary directory may be closed to others, so a server
// of another account lives under /tmp. The name is short: a Unix socket's path may have 107 bytes.
func (a account) makeDir() (string, error) {
	parent := ""
	if a.other {
		parent = "/tmp"
	}
	dir, err := os.MkdirTemp(parent, "pgtest")
	if err != nil || !a.other {
		return dir, err
	}
	return dir, os.Chown(dir, a.uid, a.gid)
}

// attributes put the watcher into a process group of its own, so that a Ctrl-C at the terminal reaches the
// test process only and the watcher is there to clean up after it.
func (a account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setpgid: true}
	if a.other {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}
