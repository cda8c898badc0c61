package adt

import "unsafe"

// isSpace is C's isspace.
func isSpace(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' }

func isDigit(c byte) bool { return c-'0' <= 9 }

func isAlpha(c byte) bool { return c|0x20-'a' <= 'z'-'a' }

func lower(c byte) byte {
	if c-'A' <= 'Z'-'A' {
		return c | 0x20
	}
	return c
}

// trimSpace takes C's white space off both ends.
func trimSpace(s string) string {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	for len(s) > 0 && isSpace(s[len(s)-1]) {
		s = s[:len(s)-1]
	}
	return s
}

// borrow gives b as a string without a copy, for calls that keep nothing of it.
func borrow(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func hexDigit(c byte) (byte, bool) {
	switch {
	case isDigit(c):
		return c - '0', true
	case lower(c)-'a' < 6:
		return lower(c) - 'a' + 10, true
	}
	return 0, false
}
