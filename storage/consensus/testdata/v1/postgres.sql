CREATE TABLE tributary_format (version int NOT NULL PRIMARY KEY);
CREATE TABLE tributary_registers (
	key text COLLATE "C" NOT NULL PRIMARY KEY,
	head bigint NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE tributary_entries (
	key text COLLATE "C" NOT NULL,
	version bigint NOT NULL,
	data bytea NOT NULL,
	PRIMARY KEY (key, version)
);
INSERT INTO tributary_format VALUES (1);
INSERT INTO tributary_registers VALUES ('epoch', 3), ('s/a', 2), ('s/absent', 0);
INSERT INTO tributary_entries VALUES ('epoch', 3, '\x01'), ('s/a', 1, '\x6131'), ('s/a', 2, '\x');
