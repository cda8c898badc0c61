package adt

// abbrev is what a time zone abbreviation stands for: minutes east of UTC, or a place (in lower case)
// whose offset at the time is meant.
type abbrev struct {
	minutes int
	dst     bool
	place   string
}

// abbrevs are PostgreSQL's default abbreviations, in lower case.
var abbrevs = map[string]abbrev{
	"acdt": {minutes: 630, dst: true}, "acsst": {minutes: 630, dst: true}, "acst": {minutes: 570},
	"act": {minutes: -300}, "acwst": {minutes: 525}, "adt": {minutes: -180, dst: true},
	"aedt": {minutes: 660, dst: true}, "aesst": {minutes: 660, dst: true}, "aest": {minutes: 600},
	"aft": {minutes: 270}, "akdt": {minutes: -480, dst: true}, "akst": {minutes: -540},
	"almst": {minutes: 420, dst: true}, "almt": {minutes: 360}, "amst": {place: "asia/yerevan"}, "amt": {minutes: -240},
	"anast": {place: "asia/anadyr"}, "anat": {place: "asia/anadyr"}, "arst": {place: "america/argentina/buenos_aires"},
	"art": {place: "america/argentina/buenos_aires"}, "ast": {minutes: -240}, "awsst": {minutes: 540, dst: true},
	"awst": {minutes: 480}, "azost": {minutes: 0, dst: true}, "azot": {minutes: -60}, "azst": {place: "asia/baku"},
	"azt": {place: "asia/baku"}, "bdst": {minutes: 120, dst: true}, "bdt": {minutes: 360}, "bnt": {minutes: 480},
	"bort": {minutes: 480}, "bot": {minutes: -240}, "bra": {minutes: -180}, "brst": {minutes: -120, dst: true},
	"brt": {minutes: -180}, "bst": {minutes: 60, dst: true}, "btt": {minutes: 360}, "cadt": {minutes: 630, dst: true},
	"cast": {minutes: 570}, "cct": {minutes: 480}, "cdt": {minutes: -300, dst: true}, "cest": {minutes: 120, dst: true},
	"cet": {minutes: 60}, "cetdst": {minutes: 120, dst: true}, "chadt": {minutes: 825, dst: true},
	"chast": {minutes: 765}, "chut": {minutes: 600}, "ckt": {place: "pacific/rarotonga"},
	"clst": {minutes: -180, dst: true}, "clt": {place: "america/santiago"}, "cot": {minutes: -300},
	"cst": {minutes: -360}, "cxt": {minutes: 420}, "davt": {place: "antarctica/davis"}, "ddut": {minutes: 600},
	"easst": {place: "pacific/easter"}, "east": {place: "pacific/easter"}, "eat": {minutes: 180},
	"edt": {minutes: -240, dst: true}, "eest": {minutes: 180, dst: true}, "eet": {minutes: 120},
	"eetdst": {minutes: 180, dst: true}, "egst": {minutes: 0, dst: true}, "egt": {minutes: -60}, "est": {minutes: -300},
	"fet": {minutes: 180}, "fjst": {minutes: 780, dst: true}, "fjt": {minutes: 720},
	"fkst": {place: "atlantic/stanley"}, "fkt": {place: "atlantic/stanley"}, "fnst": {minutes: -60, dst: true},
	"fnt": {minutes: -120}, "galt": {minutes: -360}, "gamt": {minutes: -540}, "gest": {place: "asia/tbilisi"},
	"get": {place: "asia/tbilisi"}, "gft": {minutes: -180}, "gilt": {minutes: 720}, "gmt": {minutes: 0},
	"gyt": {place: "america/guyana"}, "hkt": {minutes: 480}, "hst": {minutes: -600}, "ict": {minutes: 420},
	"idt": {minutes: 180, dst: true}, "iot": {place: "indian/chagos"}, "irkst": {place: "asia/irkutsk"},
	"irkt": {place: "asia/irkutsk"}, "irt": {minutes: 210}, "ist": {minutes: 120}, "jayt": {minutes: 540},
	"jst": {minutes: 540}, "kdt": {minutes: 600, dst: true}, "kgst": {minutes: 360, dst: true},
	"kgt": {place: "asia/bishkek"}, "kost": {place: "pacific/kosrae"}, "krast": {place: "asia/krasnoyarsk"},
	"krat": {place: "asia/krasnoyarsk"}, "kst": {minutes: 540}, "lhdt": {place: "australia/lord_howe"},
	"lhst": {minutes: 630}, "ligt": {minutes: 600}, "lint": {place: "pacific/kiritimati"},
	"lkt": {place: "asia/colombo"}, "magst": {place: "asia/magadan"}, "magt": {place: "asia/magadan"},
	"mart": {minutes: -570}, "mawt": {place: "antarctica/mawson"}, "mdt": {minutes: -360, dst: true},
	"mest": {minutes: 120, dst: true}, "mesz": {minutes: 120, dst: true}, "met": {minutes: 60},
	"metdst": {minutes: 120, dst: true}, "mez": {minutes: 60}, "mht": {minutes: 720}, "mmt": {minutes: 390},
	"mpt": {minutes: 600}, "msd": {minutes: 240, dst: true}, "msk": {place: "europe/moscow"}, "mst": {minutes: -420},
	"must": {minutes: 300, dst: true}, "mut": {minutes: 240}, "mvt": {minutes: 300}, "myt": {minutes: 480},
	"ndt": {minutes: -150, dst: true}, "nft": {minutes: -210}, "novst": {place: "asia/novosibirsk"},
	"novt": {place: "asia/novosibirsk"}, "npt": {minutes: 345}, "nst": {minutes: -210}, "nut": {place: "pacific/niue"},
	"nzdt": {minutes: 780, dst: true}, "nzst": {minutes: 720}, "nzt": {minutes: 720}, "omsst": {place: "asia/omsk"},
	"omst": {place: "asia/omsk"}, "pdt": {minutes: -420, dst: true}, "pet": {minutes: -300},
	"petst": {place: "asia/kamchatka"}, "pett": {place: "asia/kamchatka"}, "pgt": {minutes: 600}, "pht": {minutes: 480},
	"pkst": {minutes: 360, dst: true}, "pkt": {minutes: 300}, "pmdt": {minutes: -120, dst: true},
	"pmst": {minutes: -180}, "pont": {minutes: 660}, "pst": {minutes: -480}, "pwt": {minutes: 540},
	"pyst": {minutes: -180, dst: true}, "pyt": {place: "america/asuncion"}, "ret": {minutes: 240},
	"sadt": {minutes: 630, dst: true}, "sast": {minutes: 120}, "sct": {minutes: 240}, "sgt": {place: "asia/singapore"},
	"taht": {minutes: -600}, "tft": {minutes: 300}, "tjt": {minutes: 300}, "tkt": {place: "pacific/fakaofo"},
	"tmt": {place: "asia/ashgabat"}, "tot": {minutes: 780}, "trut": {minutes: 600}, "tvt": {minutes: 720},
	"uct": {minutes: 0}, "ulast": {minutes: 540, dst: true}, "ulat": {place: "asia/ulaanbaatar"}, "ut": {minutes: 0},
	"utc": {minutes: 0}, "uyst": {minutes: -120, dst: true}, "uyt": {minutes: -180}, "uzst": {minutes: 360, dst: true},
	"uzt": {minutes: 300}, "vet": {place: "america/caracas"}, "vlast": {place: "asia/vladivostok"},
	"vlat": {place: "asia/vladivostok"}, "volt": {place: "europe/volgograd"}, "vut": {minutes: 660},
	"wadt": {minutes: 480, dst: true}, "wakt": {minutes: 720}, "wast": {minutes: 420}, "wat": {minutes: 60},
	"wdt": {minutes: 540, dst: true}, "wet": {minutes: 0}, "wetdst": {minutes: 60, dst: true}, "wft": {minutes: 720},
	"wgst": {minutes: -120, dst: true}, "wgt": {minutes: -180}, "xjt": {minutes: 360}, "yakst": {place: "asia/yakutsk"},
	"yakt": {place: "asia/yakutsk"}, "yapt": {minutes: 600}, "yekst": {minutes: 360, dst: true},
	"yekt": {place: "asia/yekaterinburg"}, "z": {minutes: 0}, "zulu": {minutes: 0},
}
