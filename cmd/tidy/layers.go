package main

// This file is the layer table: which folders and packages there are, who may import whom, and where each
// dependency may be used. A change to it is a design decision and comes in a commit of its own that says why.

// modulePath is the import path of the module's root.
const modulePath = "github.com/tributary-db/tributary"

// folder is one of the seven at the top. It imports itself and the folders it sees, through their doors.
type folder struct {
	name string
	sees []string
	// testsSee are the packages that its tests may import besides.
	testsSee []string
	doors    []door
	rooms    []room
}

// door is a package that may be imported from outside its folder.
type door struct {
	room string
	// only is the prefix of the paths that may use it; empty means every folder that sees this one.
	only string
}

// room is a package; it imports rooms of its folder on lower floors only. A room may have a package for tests inside it,
// "bind/bindtest", which stands above it and needs no entry of its own.
type room struct {
	name  string
	floor int
	// forTests marks a package that only tests (and other such packages) import.
	forTests bool
}

// folders is the staircase, from the bottom.
var folders = []folder{
	{
		name: "sql",
		// Every room of sql is a door: it is the vocabulary of all.
		doors: []door{{room: "*"}},
		rooms: []room{
			{name: "invariants", floor: 1}, {name: "pgtest", floor: 1, forTests: true}, {name: "pgerr", floor: 1},
			// Parsing and printing values fails with errors for clients, and checks its own promises.
			{name: "ast", floor: 2}, {name: "types", floor: 2},
			// An array is of elements of some type.
			{name: "adt", floor: 3},
			{name: "parser", floor: 4}, {name: "vec", floor: 4}, {name: "settings", floor: 4},
			// Rows are made of columns and decoded back into them.
			{name: "row", floor: 5},
			{name: "scalar", floor: 6}, {name: "fn", floor: 7},
		},
	},
	{
		name: "storage",
		sees: []string{"sql"},
		doors: []door{
			{room: "tvc"}, {room: "shard"}, {room: "txn"}, {room: "oracle"}, {room: "collection"},
			{room: "blob", only: "cmd/"}, {room: "consensus", only: "cmd/"},
		},
		rooms: []room{
			{name: "tvc", floor: 2}, {name: "meter", floor: 2}, {name: "blob", floor: 2}, {name: "consensus", floor: 2},
			{name: "part", floor: 3}, {name: "oracle", floor: 3},
			{name: "shard", floor: 4},
			{name: "txn", floor: 5},
			// Maintenance commits through the one line to consensus, like everything else.
			{name: "collection", floor: 6},
			{name: "storagetest", floor: 7, forTests: true},
		},
	},
	{
		name: "compute",
		sees: []string{"sql", "storage"},
		doors: []door{
			{room: "plan"}, {room: "controller"},
			{room: "engine", only: "cmd/tributary/bench"}, {room: "sink", only: "cmd/tributary/bench"},
		},
		rooms: []room{
			{name: "plan", floor: 1}, {name: "arrange", floor: 1},
			{name: "protocol", floor: 2}, {name: "dataflow", floor: 2},
			{name: "op", floor: 3}, {name: "source", floor: 3},
			// An index is a sink that hands its arrangement to the operators that read one.
			{name: "sink", floor: 4}, {name: "ingest", floor: 4}, {name: "introspect", floor: 4},
			{name: "render", floor: 5},
			// The controller starts the engines of its own process.
			{name: "engine", floor: 6}, {name: "controller", floor: 7},
		},
	},
	{
		name:  "planner",
		sees:  []string{"sql", "storage", "compute"},
		doors: []door{{room: "session"}, {room: "coord", only: "cmd/"}},
		rooms: []room{
			{name: "logical", floor: 1}, {name: "copydata", floor: 1},
			{name: "catalog", floor: 2}, {name: "rewrite", floor: 2}, {name: "lower", floor: 2},
			{name: "builtin", floor: 3}, {name: "bind", floor: 3},
			// What changes the catalog is bound to operations apart from the session, whose transaction applies them.
			{name: "coord", floor: 4}, {name: "ddl", floor: 4}, {name: "session", floor: 5},
		},
	},
	{
		name:  "pgwire",
		sees:  []string{"sql", "planner"},
		doors: []door{{room: "server"}},
		rooms: []room{{name: "auth", floor: 1}, {name: "server", floor: 2}},
	},
	{
		// testdrive knows a server only by its address, so that both cannot agree on a mistake.
		name:     "testdrive",
		testsSee: []string{"sql/pgtest"},
		doors:    []door{{room: "runner"}, {room: "slt"}},
		rooms: []room{
			{name: "script", floor: 1}, {name: "action", floor: 2}, {name: "runner", floor: 3},
			// slt runs its files on runner's suite: order, jobs, clean state and reports are one thing.
			{name: "slt", floor: 4},
		},
	},
	{
		name: "cmd",
		sees: []string{"sql", "storage", "compute", "planner", "pgwire", "testdrive"},
		rooms: []room{
			{name: "tidy", floor: 1}, {name: "tributary/web", floor: 1}, {name: "tributary/bench", floor: 1}, {name: "tributary", floor: 2},
		},
	},
}

// dependency is a module, or a package of the standard library, that only some places may import.
type dependency struct {
	// path is an import path; it stands for everything under it. The longest that fits counts.
	path string
	// in lists path prefixes of files (or "*/name.go" for a file name) that may import it; nil means everywhere.
	in []string
	// why says what it is for; for a dependency without a place of its own, also why it is worth having.
	why string
}

// dependencies is the whole list: an import from outside that is not on it is a finding, in tests too.
// Where a place is given, it binds only files that are not tests.
var dependencies = []dependency{
	{path: "github.com/pingcap/tidb/pkg/parser", in: []string{"sql/parser/"}, why: "the grammar engine"},
	{path: "github.com/apache/arrow-go/v18", in: []string{"storage/part/"}, why: "the format of objects"},
	{path: "github.com/cockroachdb/pebble/v2", in: []string{"storage/consensus/", "storage/blob/", "storage/storagetest/"},
		why: "the embedded store"},
	{path: "github.com/jackc/pgx/v5/pgproto3", in: []string{"pgwire/server/"}, why: "PostgreSQL's messages"},
	{path: "github.com/jackc/pgx/v5/pgtype", in: []string{"sql/row/", "testdrive/"}, why: "PostgreSQL's value formats"},
	{path: "github.com/jackc/pgx/v5", in: []string{"testdrive/", "storage/consensus/", "cmd/"}, why: "PostgreSQL's client"},
	{path: "github.com/minio/minio-go/v7", in: []string{"storage/blob/"}, why: "S3's client; half the code of Amazon's own"},
	{path: "gonum.org/v1/plot", in: []string{"cmd/tributary/bench/"}, why: "drawings of what was measured"},
	{path: "github.com/spf13/cobra", in: []string{"cmd/"}, why: "subcommands and flags"},
	{path: "github.com/spf13/pflag", in: []string{"cmd/"}, why: "cobra's flags"},
	{path: "net/http", in: []string{"cmd/", "storage/blob/", "testdrive/action/", "compute/ingest/"}, why: "HTTP"},
	{path: "github.com/prometheus", in: []string{"cmd/", "*/metrics.go"}, why: "metrics"},

	{path: "github.com/cockroachdb/apd/v3", in: []string{"sql/"}, why: "decimal arithmetic"},
	{path: "github.com/zeebo/xxh3", why: "the hash of rows and bytes"},
	{path: "github.com/klauspost/compress", in: []string{"storage/"}, why: "zstd for parts"},
	{path: "github.com/google/uuid", why: "random names"},
	{path: "golang.org/x/text", in: []string{"sql/"}, why: "Unicode normal forms and case"},
	{path: "golang.org/x/sys", why: "system calls the standard library lacks"},
	{path: "golang.org/x/sync", why: "errgroup"},
	{path: "github.com/pmezard/go-difflib", in: []string{"testdrive/"}, why: "the diff in a failure message"},

	{path: "github.com/johannesboyne/gofakes3", in: forTestsOnly, why: "S3 in the test's own process"},
	{path: "github.com/cockroachdb/datadriven", in: forTestsOnly, why: "golden tests"},
	{path: "pgregory.net/rapid", in: forTestsOnly, why: "property tests"},
	{path: "github.com/anishathalye/porcupine", in: forTestsOnly, why: "checking histories"},
	{path: "go.uber.org/goleak", in: forTestsOnly, why: "leaked goroutines"},
}

// forTestsOnly fits no path.
var forTestsOnly = []string{"(tests only)"}

// topLevel is what may stand at the top besides the folders.
var topLevel = []string{
	"go.mod", "go.sum", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", "docs", ".ci", ".git",
}
