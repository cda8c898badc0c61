package parser

import (
	"strings"

	"github.com/tributary-db/tributary/sql/ast"
)

// postgresWords are PostgreSQL's keywords.
const postgresWords = `abort absolute access action add admin after aggregate all also alter always analyse analyze and any array
as asc asensitive assertion assignment asymmetric at atomic attach attribute authorization backward before
begin between bigint binary bit boolean both breadth by cache call called cascade cascaded case cast catalog
chain char character characteristics check checkpoint class close cluster coalesce collate collation column
columns comment comments commit committed compression concurrently configuration conflict connection
constraint constraints content continue conversion copy cost create cross csv cube current current_catalog
current_date current_role current_schema current_time current_timestamp current_user cursor cycle data
database day deallocate dec decimal declare default defaults deferrable deferred definer delete delimiter
delimiters depends depth desc detach dictionary disable discard distinct do document domain double drop each
else enable encoding encrypted end enum escape event except exclude excluding exclusive execute exists
explain expression extension external extract false family fetch filter finalize first float following for
force foreign forward freeze from full function functions generated global grant granted greatest group
grouping groups handler having header hold hour identity if ilike immediate immutable implicit import in
include including increment index indexes inherit inherits initially inline inner inout input insensitive
insert instead int integer intersect interval into invoker is isnull isolation join key label language large
last lateral leading leakproof least left level like limit listen load local localtime localtimestamp
location lock locked logged mapping match matched materialized maxvalue merge method minute minvalue mode
month move name names national natural nchar new next nfc nfd nfkc nfkd no none normalize normalized not
nothing notify notnull nowait null nullif nulls numeric object of off offset oids old on only operator
option options or order ordinality others out outer over overlaps overlay overriding owned owner parallel
parameter parser partial partition passing password placing plans policy position preceding precision
prepare prepared preserve primary prior privileges procedural procedure procedures program publication quote
range read real reassign recheck recursive ref references referencing refresh reindex relative release
rename repeatable replace replica reset restart restrict return returning returns revoke right role rollback
rollup routine routines row rows rule savepoint schema schemas scroll search second security select sequence
sequences serializable server session session_user set setof sets share show similar simple skip smallint
snapshot some sql stable standalone start statement statistics stdin stdout storage stored strict strip
subscription substring support symmetric sysid system table tables tablesample tablespace temp template
temporary text then ties time timestamp to trailing transaction transform treat trigger trim true truncate
trusted type types uescape unbounded uncommitted unencrypted union unique unknown unlisten unlogged until
update user using vacuum valid validate validator value values varchar variadic varying verbose version view
views volatile when where whitespace window with within without work wrapper write xml xmlattributes
xmlconcat xmlelement xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable year yes
zone`

// otherWords are the words that only our dialect knows. None is reserved.
const otherWords = `aligned apply arity assert auto availability aws bounded broken bypassrls clusters connections counter cpu
createcluster createdb createnetworkpolicy createrole creates creation databases debezium debugging
decorrelated disk dot element envelope error every expected factor generator hints history humanized
hydrated id ids ignore info insights inspect internal introspection json linger list locally login managed
map member membership memory metric minutes mock mutually mysql network nobypassrls nocreatecluster nocreatedb
nocreaterole noinherit nologin noreplication nosuperuser objects oidc one optimized optimizer physical plan
policies postgres progress public pushdown qualify raw ready recursion redacted replacement replan replicas
replication respect retain roles scale scaling schedule seconds secret secrets shard sink sinks size skew
source sources stage staleness strategy strong subscribe subsource subsources superuser swap test timeout
trace ungrouped unit up upsert users wait warm webhook workload zones`

// words are the words that the parser knows, by number; number 0 is no word. With the words as strings the
// parser's code reads like the grammar, and comparing them is comparing lengths and a few bytes.
var words = append([]string{""}, strings.Fields(postgresWords+" "+otherWords)...)

// wordInfo is what the parser asks of a word in passing.
type wordInfo struct {
	category ast.Category
	bare     bool // may be the label of a result without AS
}

var wordNumbers = numberWords()

func numberWords() map[string]uint16 {
	m := make(map[string]uint16, len(words))
	for i, w := range words[1:] {
		m[w] = uint16(i + 1)
	}
	return m
}

var wordInfos = readInfos()

func readInfos() []wordInfo {
	infos := make([]wordInfo, len(words))
	for i, w := range words {
		infos[i] = wordInfo{ast.CategoryOf(w), ast.BareLabel(w)}
	}
	return infos
}

// postgresCount is how many of the words are PostgreSQL's, which come first.
var postgresCount = len(strings.Fields(postgresWords))

// isPostgresWord says whether PostgreSQL has the word as a keyword.
func isPostgresWord(w string) bool { return w != "" && int(wordNumbers[w]) <= postgresCount }

// maxWord is the length of the longest word.
const maxWord = 19

// wordNumber finds an identifier among the words, whatever its case.
func wordNumber(s string) uint16 {
	if len(s) > maxWord {
		return 0
	}
	var low [maxWord]byte
	for i := range len(s) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		low[i] = c
	}
	return wordNumbers[string(low[:len(s)])]
}
