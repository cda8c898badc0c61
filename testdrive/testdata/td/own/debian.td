# Debian's shells and some of what they need: an excerpt of the package index, as docs/tutorial.md loads all of it.
# Views over it follow upgrades, removals and new dependencies, also across a crash, and stay equal to their queries.

> CREATE TABLE packages (name text NOT NULL, version text NOT NULL, section text, priority text, maintainer text, size_kib int8)

> CREATE TABLE depends (package text NOT NULL, dependency text NOT NULL)

> CREATE TABLE provides (package text NOT NULL, provided text NOT NULL)

$ copy-in statement="COPY packages FROM STDIN"
autojump	22.5.1-1.1	shells	optional	Tanguy Ortolo <tanguy+debian@ortolo.eu>	156
bash	5.2.15-2+b13	shells	required	Matthias Klose <doko@debian.org>	7164
bash-static	5.2.15-2+b13	shells	optional	Matthias Klose <doko@debian.org>	2457
bash-completion	1:2.11-6	shells	standard	Gabriel F. T. Gomes <gabriel@debian.org>	1463
bats	1.8.2-1	shells	optional	Yaroslav Halchenko <debian@onerussian.com>	158
busybox-static	1:1.35.0-4+deb12u1+b1	shells	optional	Debian Install System Team <debian-boot@lists.debian.org>	2024
cleo	0.004-4	shells	optional	Debian Perl Group <pkg-perl-maintainers@lists.alioth.debian.org>	35
csh	20110502-7+b1	shells	optional	Ubuntu Developers <ubuntu-devel-discuss@lists.ubuntu.com>	340
ash	0.5.12-2	shells	optional	Andrej Shadura <andrewsh@debian.org>	26
dash	0.5.12-2	shells	required	Andrej Shadura <andrewsh@debian.org>	191
debconf	1.5.82	admin	required	Debconf Developers <debconf-devel@lists.alioth.debian.org>	491
dpkg	1.21.23	admin	required	Dpkg Developers <debian-dpkg@lists.debian.org>	6409
elvish	0.19.2-1+b1	shells	optional	Debian Go Packaging Team <team+pkg-go@tracker.debian.org>	8098
fdclone	3.01j-1	shells	optional	Elías Alejandro Año Mendoza <ealmdz@gmail.com>	1171
fish	3.6.0-3.1+deb12u1	shells	optional	Tristan Seligmann <mithrandi@debian.org>	5594
fish-common	3.6.0-3.1+deb12u1	shells	optional	Tristan Seligmann <mithrandi@debian.org>	12229
fizsh	1.0.9-1	shells	optional	Guido van Steen <vansteen@users.sourceforge.net>	153
libstdc++6	12.2.0-14+deb12u1	libs	optional	Debian GCC Maintainers <debian-gcc@lists.debian.org>	2686
groff-base	1.22.4-10	text	standard	Colin Watson <cjwatson@debian.org>	3673
ksh	20230128	shells	optional	Anuradha Weeraman <anuradha@debian.org>	56
ksh93u+m	1.0.4-3	shells	optional	Anuradha Weeraman <anuradha@debian.org>	3193
libcap2	1:2.66-4+deb12u3+b1	libs	optional	Christian Kastner <ckk@debian.org>	95
man-db	2.11.2-2	doc	standard	Colin Watson <cjwatson@debian.org>	2963
mksh	59c-28+deb12u1	shells	optional	Thorsten Glaser <tg@mirbsd.de>	1464
libmono-corlib4.5-cil	6.8.0.105+dfsg-3.3+deb12u1	cli-mono	optional	Debian Mono Group <pkg-mono-group@lists.alioth.debian.org>	57
libmono-system4.0-cil	6.8.0.105+dfsg-3.3+deb12u1	cli-mono	optional	Debian Mono Group <pkg-mono-group@lists.alioth.debian.org>	2771
mono-csharp-shell	6.8.0.105+dfsg-3.3+deb12u1	shells	optional	Debian Mono Group <pkg-mono-group@lists.alioth.debian.org>	113
posh	0.14.1	shells	optional	Clint Adams <clint@debian.org>	190
rc	1.7.4+97.gceb59bb-5	shells	optional	Debian QA Group <packages@qa.debian.org>	178
rush	2.3-1	shells	optional	Bo YU <tsu.yubo@gmail.com>	821
sash	3.8-5+b28	shells	optional	Tollef Fog Heen <tfheen@debian.org>	1158
screenie	20120406-2	shells	optional	Debian QA Group <packages@qa.debian.org>	24
tcsh	6.24.07-1	shells	optional	Josef Schneider <josef81sch@gmail.com>	1346
xonsh	0.13.4+dfsg-1	shells	optional	Debian Python Team <team+python@tracker.debian.org>	2789
yash	2.52-2	shells	optional	TANIGUCHI Takaki <takaki@debian.org>	1420
zgen	0~20150919-4	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	27
zplug	2.4.2-2	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	319
zsh	5.9-4+b15	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	2461
zsh-common	5.9-4	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	16422
zsh-static	5.9-4+b15	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	2666
zsh-antigen	2.2.3-5	shells	optional	Michael Fladischer <fladi@debian.org>	80
zsh-autosuggestions	0.7.0-1	shells	optional	Mo Zhou <lumin@debian.org>	46
zsh-syntax-highlighting	0.7.1-2	shells	optional	Debian Zsh Maintainers <pkg-zsh-devel@lists.alioth.debian.org>	146
perl	5.36.0-7+deb12u4	perl	standard	Niko Tyni <ntyni@debian.org>	670

$ copy-in statement="COPY depends FROM STDIN"
autojump	python3
bash	base-files
bash	debianutils
bash-static	passwd
bash-static	debianutils
cleo	libfile-slurp-perl
cleo	libterm-readkey-perl
cleo	perl
csh	libbsd0
csh	libc6
dash	debianutils
dash	dpkg
dpkg	tar
elvish	debianutils
elvish	libc6
fdclone	libc6
fdclone	libtinfo6
fish	fish-common
fish	bsdextrautils
fish	groff-base
fish	man-db
fish	procps
fish	python3
fish	libc6
fish	libpcre2-32-0
fish	libstdc++6
fish	libtinfo6
fizsh	zsh
libstdc++6	gcc-12-base
libstdc++6	libc6
libstdc++6	libgcc-s1
groff-base	libc6
groff-base	libgcc-s1
groff-base	libstdc++6
groff-base	libuchardet0
ksh	ksh93u+m
ksh93u+m	libc6
libcap2	libc6
man-db	bsdextrautils
man-db	bsdmainutils
man-db	groff-base
man-db	debconf
man-db	debconf-2.0
man-db	libc6
man-db	libgdbm6
man-db	libpipeline1
man-db	libseccomp2
man-db	zlib1g
mksh	libc6
libmono-corlib4.5-cil	libmono-corlib4.5-dll
libmono-corlib4.5-cil	mono-runtime
libmono-system4.0-cil	libc6
libmono-system4.0-cil	libc6.1
libmono-system4.0-cil	libc0.1
libmono-system4.0-cil	libmono-corlib4.5-dll
libmono-system4.0-cil	libmono-security4.0-cil
libmono-system4.0-cil	libmono-system-configuration4.0-cil
libmono-system4.0-cil	libmono-system-core4.0-cil
libmono-system4.0-cil	libmono-system-numerics4.0-cil
libmono-system4.0-cil	libmono-system-xml4.0-cil
mono-csharp-shell	mono-runtime
mono-csharp-shell	libc6
mono-csharp-shell	libc6.1
mono-csharp-shell	libc0.1
mono-csharp-shell	libmono-corlib4.5-cil
mono-csharp-shell	libmono-csharp4.0c-cil
mono-csharp-shell	libmono-management4.0-cil
mono-csharp-shell	libmono-system4.0-cil
posh	libc6
posh	debconf
posh	debconf-2.0
rc	libc6
rc	libreadline8
rush	libc6
sash	debconf
sash	debconf-2.0
screenie	screen
screenie	perl
tcsh	libc6
tcsh	libcrypt1
tcsh	libtinfo6
xonsh	python3
xonsh	python3-ply-yacc-3.10
yash	libc6
yash	libtinfo6
zgen	git
zgen	zsh
zplug	git
zplug	zsh
zsh	zsh-common
zsh	libc6
zsh	libcap2
zsh	libtinfo6
zsh	debianutils
zsh-static	debianutils
zsh-antigen	git
zsh-antigen	zsh
zsh-autosuggestions	zsh
zsh-syntax-highlighting	zsh
perl	perl-base
perl	perl-modules-5.36
perl	libperl5.36

$ copy-in statement="COPY provides FROM STDIN"
bash-completion	dh-sequence-bash-completion
busybox-static	busybox
csh	c-shell
debconf	debconf-2.0
ksh93u+m	ksh
man-db	man
man-db	man-browser
tcsh	c-shell
perl	libansicolor-perl
perl	libarchive-tar-perl
perl	libattribute-handlers-perl
perl	libautodie-perl
perl	libcompress-raw-bzip2-perl
perl	libcompress-raw-zlib-perl
perl	libcompress-zlib-perl
perl	libcpan-meta-perl
perl	libcpan-meta-requirements-perl
perl	libcpan-meta-yaml-perl
perl	libdigest-md5-perl
perl	libdigest-perl
perl	libdigest-sha-perl
perl	libencode-perl
perl	libexperimental-perl
perl	libextutils-cbuilder-perl
perl	libextutils-command-perl
perl	libextutils-install-perl
perl	libextutils-parsexs-perl
perl	libfile-spec-perl
perl	libhttp-tiny-perl
perl	libi18n-langtags-perl
perl	libio-compress-base-perl
perl	libio-compress-bzip2-perl
perl	libio-compress-perl
perl	libio-compress-zlib-perl
perl	libio-zlib-perl
perl	libjson-pp-perl
perl	liblocale-maketext-perl
perl	liblocale-maketext-simple-perl
perl	libmath-bigint-perl
perl	libmath-complex-perl
perl	libmime-base64-perl
perl	libmodule-corelist-perl
perl	libmodule-load-conditional-perl
perl	libmodule-load-perl
perl	libmodule-metadata-perl
perl	libnet-perl
perl	libnet-ping-perl
perl	libparams-check-perl
perl	libparent-perl
perl	libparse-cpan-meta-perl
perl	libperl-ostype-perl
perl	libpod-escapes-perl
perl	libpod-simple-perl
perl	libstorable-perl
perl	libsys-syslog-perl
perl	libtest-harness-perl
perl	libtest-simple-perl
perl	libtest-tester-perl
perl	libtest-use-ok-perl
perl	libtext-balanced-perl
perl	libthread-queue-perl
perl	libthreads-perl
perl	libthreads-shared-perl
perl	libtime-hires-perl
perl	libtime-local-perl
perl	libtime-piece-perl
perl	libunicode-collate-perl
perl	libversion-perl
perl	libversion-requirements-perl
perl	podlators-perl

> CREATE MATERIALIZED VIEW by_section AS
  SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section

> CREATE MATERIALIZED VIEW most_wanted AS
  SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5

> CREATE MATERIALIZED VIEW broken AS
  SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL

> CREATE VIEW heavy AS SELECT section FROM by_section WHERE kib > 5000

> CREATE INDEX by_section_section ON by_section (section)

> SELECT count(*), sum(packages) FROM by_section
7 44

> SELECT name, dependents FROM most_wanted
zsh 6
debconf 3
groff-base 2
libstdc++6 2
perl 2

> SELECT count(*) FROM broken
76

> SELECT packages FROM by_section WHERE section = 'shells'
35

> (SELECT * FROM by_section EXCEPT ALL (SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section)) UNION ALL ((SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section) EXCEPT ALL SELECT * FROM by_section)

> (SELECT * FROM most_wanted EXCEPT ALL (SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5)) UNION ALL ((SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5) EXCEPT ALL SELECT * FROM most_wanted)

> (SELECT * FROM broken EXCEPT ALL (SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL)) UNION ALL ((SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL) EXCEPT ALL SELECT * FROM broken)



# An upgrade, a removal, a new dependency, all at once.

$ postgres-execute connection=materialize
BEGIN
UPDATE packages SET version = version || '+new', size_kib = size_kib + 1 WHERE section = 'shells'
DELETE FROM packages WHERE name = 'bash'
INSERT INTO depends VALUES ('zsh', 'nothing-of-the-kind'), ('zsh', 'libc6')
COMMIT

> (SELECT * FROM by_section EXCEPT ALL (SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section)) UNION ALL ((SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section) EXCEPT ALL SELECT * FROM by_section)

> (SELECT * FROM most_wanted EXCEPT ALL (SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5)) UNION ALL ((SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5) EXCEPT ALL SELECT * FROM most_wanted)

> (SELECT * FROM broken EXCEPT ALL (SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL)) UNION ALL ((SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL) EXCEPT ALL SELECT * FROM broken)

> SELECT dependency FROM broken WHERE package = 'zsh' AND dependency LIKE 'nothing%'
nothing-of-the-kind

$ kill

> (SELECT * FROM by_section EXCEPT ALL (SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section)) UNION ALL ((SELECT section, count(*) AS packages, sum(size_kib) AS kib FROM packages GROUP BY section) EXCEPT ALL SELECT * FROM by_section)

> (SELECT * FROM most_wanted EXCEPT ALL (SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5)) UNION ALL ((SELECT d.dependency AS name, count(*) AS dependents, p.maintainer FROM depends d JOIN packages p ON p.name = d.dependency GROUP BY d.dependency, p.maintainer ORDER BY dependents DESC, name LIMIT 5) EXCEPT ALL SELECT * FROM most_wanted)

> (SELECT * FROM broken EXCEPT ALL (SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL)) UNION ALL ((SELECT DISTINCT d.package, d.dependency FROM depends d LEFT JOIN packages p ON p.name = d.dependency LEFT JOIN provides v ON v.provided = d.dependency WHERE p.name IS NULL AND v.provided IS NULL) EXCEPT ALL SELECT * FROM broken)

> INSERT INTO provides VALUES ('zsh-common', 'nothing-of-the-kind')

> SELECT count(*) FROM broken WHERE dependency LIKE 'nothing%'
0

> DELETE FROM depends

> SELECT count(*) FROM most_wanted
0

> SELECT count(*) FROM broken
0
