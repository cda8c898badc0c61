// Package pgwire is bytes and connections: PostgreSQL's protocol, version 3, over a session.
//
// Map, from the bottom: auth (who may connect) · server (listener, startup, cancel, simple and extended query, COPY).
//
// Door: server. It sees planner/session and sql, nothing else.
package pgwire
