// Package pgwire is bytes and connections: PostgreSQL's protocol, version 3, over a session.
//
// Map: server (listener, startup, cancel, simple and extended query, COPY). Who may connect will stand below it.
//
// Door: server. It sees planner/session and sql, nothing else.
package pgwire
