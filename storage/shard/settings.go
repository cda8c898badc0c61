package shard

import "github.com/tributary-db/tributary/sql/settings"

var (
	inlineAppendMax = settings.NewBytes("storage_inline_append_max_bytes", 32<<10, 0, 256<<10,
		"how many bytes the rows of an append may take, encoded, to be kept in the shard's state instead of an object of their own",
		"next append")
	cacheMaxBytes = settings.NewBytes("storage_cache_max_bytes", 128<<20, 0, 1<<40,
		"how many bytes of decoded parts, of all collections, are kept in memory", "next part that is read or written")
	filterPushdown = settings.NewBool("storage_filter_pushdown", true,
		"whether reads leave out parts whose statistics prove that no row of theirs is wanted", "next read")
	auditPercent = settings.NewInt("storage_filter_audit_percent", 1, 0, 100,
		"of how many in a hundred of the parts left out it is proved, by reading them, that no row was wanted", "next read")
)

// Settings lists the package's dynamic parameters.
func Settings() []settings.Param {
	return []settings.Param{inlineAppendMax, cacheMaxBytes, filterPushdown, auditPercent}
}

func (c *Client) inlineMax() int { return int(inlineAppendMax.Get(c.settings)) }

func (c *Client) cacheMax() int64 { return cacheMaxBytes.Get(c.settings) }
