package action

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// copyIn is $ copy-in statement="COPY … FROM STDIN …" [error=TEXT]: the lines below are the data. With error, the copy
// must fail with a message that contains the text.
func copyIn(m *Machine, ctx context.Context, c *call) error {
	data := ""
	if len(c.body) > 0 {
		data = strings.Join(c.body, "\n") + "\n"
	}
	return m.copy(ctx, c, func(ctx context.Context, conn *pgconn.PgConn) error {
		_, err := conn.CopyFrom(ctx, strings.NewReader(data), c.get("statement"))
		return err
	})
}

// copyOut is $ copy-out statement="COPY … TO STDOUT …" [error=TEXT]: the lines below are what must come, in order.
func copyOut(m *Machine, ctx context.Context, c *call) error {
	return m.copy(ctx, c, func(ctx context.Context, conn *pgconn.PgConn) error {
		var out strings.Builder
		if _, err := conn.CopyTo(ctx, &out, c.get("statement")); err != nil {
			return err
		}
		if _, fails := c.arg("error"); fails {
			return nil
		}
		var got []string
		if out.Len() > 0 {
			got = lines(out.String())
		}
		if strings.Join(got, "\n") == strings.Join(c.body, "\n") {
			return nil
		}
		return &problem{"data differs", Diff("line", c.body, got)}
	})
}

func (m *Machine) copy(ctx context.Context, c *call, do func(context.Context, *pgconn.PgConn) error) error {
	s, err := m.session(c.get("connection"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.timeout)
	defer cancel()
	conn, err := s.Conn(ctx)
	if err != nil {
		return err
	}
	err = do(ctx, conn)
	if err != nil && ctx.Err() != nil {
		return &problem{"statement failed", describe(ctx, err)}
	}
	text, mustFail := c.arg("error")
	if !mustFail {
		return err
	}
	want := &wanted{text: text}
	if err == nil {
		return &problem{"statement succeeded", "expected " + want.String()}
	}
	var pgErr *pgconn.PgError
	if !errors.As(err, &pgErr) {
		return err
	}
	return want.compare(err, m.mask)
}
