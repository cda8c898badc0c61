package fn_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tributary-db/tributary/sql/fn"
	"github.com/tributary-db/tributary/sql/types"
)

// TestTemplatesAgainstOracle writes times by every field and by random templates.
func TestTemplatesAgainstOracle(t *testing.T) {
	conn := connect(t)
	fields := strings.Fields(`HH HH12 HH24 MI SS MS US FF1 FF2 FF3 FF4 FF5 FF6 SSSS SSSSS AM am A.M. a.m. PM p.m. Y,YYY YYYY YYY YY Y IYYY IYY IY I BC bc B.C.
		b.c. AD a.d. MONTH Month month MON Mon mon MM DAY Day day DY Dy dy DDD IDDD DD D ID W WW IW CC J Q RM rm TZ tz TZH TZM OF yyyy hh24 mi ff3`)
	literals := []string{"", " ", "-", ":", "/", `"text"`, `"a""b"`, "T", "Z", ".", ", ", "x", `\"`, "ä", "FM", "TM"}
	r := rand.New(rand.NewPCG(1, 2))
	var templates []string
	for _, f := range fields {
		templates = append(templates, f, "FM"+f, f+"th", f+"TH", "FM"+f+"th")
	}
	rounds := 400
	if testing.Short() {
		rounds = 40
	}
	for range rounds {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			b.WriteString(literals[r.IntN(len(literals))] + fields[r.IntN(len(fields))])
		}
		templates = append(templates, b.String()+literals[r.IntN(len(literals))])
	}
	times := map[types.OID][]string{
		types.OIDTimestamp: {"2024-02-29 13:04:05.678901", "1999-12-31 00:00:00", "0044-03-15 12:00:00 BC",
			"2000-01-01 00:30:00", "2021-01-03 23:59:59",
			"0001-01-01 01:01:01", "12345-06-07 08:09:10", "infinity", "1969-07-20 20:17:40.5", "2020-12-31 12:00:00"},
		types.OIDTimestampTZ: {"2024-02-29 13:04:05.678901+00"},
		types.OIDInterval: {"1 year 2 months 3 days 04:05:06.789", "0", "36 hours", "-1 day -02:03:04.5", "-14 months",
			"400 days 100:00:00"},
	}
	shown := 0
	for _, template := range templates {
		for oid, texts := range times {
			typ := types.Of(oid)
			text := texts[r.IntN(len(texts))]
			d, err := fn.Literal(nil, typ, text)
			if err != nil {
				t.Fatal(err)
			}
			tmpl, err := fn.Literal(nil, types.TText, template)
			if err != nil {
				t.Fatal(err)
			}
			sql := "to_char(" + literalSQL(typ, text, false) + ", " + literalSQL(types.TText, template, false) + ")"
			_, ours := ourAnswer(call{"to_char", []value{{typ, d}, {types.TText, tmpl}}})
			if theirs := askOracle(t, conn, sql); ours != theirs &&
				// Parts of the ISO calendar mean nothing for intervals; PostgreSQL writes something all the same.
				!(oid == types.OIDInterval && ours.code == "22007" && theirs.code == "") {
				if shown++; shown <= 60 {
					t.Errorf("%s:\n ours   %s\n theirs %s", sql, ours, theirs)
				}
			}
		}
	}
}
