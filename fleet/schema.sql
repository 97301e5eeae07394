-- SPDX-License-Identifier: GPL-3.0-or-later
-- The records of a fleet in PostgreSQL (14 and later): psql -f fleet/schema.sql. May be run again.
-- What the views mean is in fleet/README.md.
\set ON_ERROR_STOP on
BEGIN;
CREATE SCHEMA IF NOT EXISTS fleet;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch SCHEMA fleet;	-- levenshtein()
SET LOCAL search_path = fleet;

CREATE TABLE IF NOT EXISTS record (
	identity	text PRIMARY KEY,
	path		text NOT NULL,
	time		timestamptz,
	uptime		bigint,
	release		text,
	build_id	text,
	host		text,
	hardware	text,
	kind		text,
	signature	text,
	quality		bigint NOT NULL,	-- the larger one is kept: fleet/load says of what
	frames		text[] NOT NULL,	-- from the blamed function outwards, without .cold and the like
	waits		text[] NOT NULL,	-- for what tasks wait, "kind function caller"
	loaded		timestamptz NOT NULL DEFAULT now(),
	doc		jsonb NOT NULL
);
-- The newest of a signature first, as alike asks for it.
CREATE INDEX IF NOT EXISTS record_newest ON record (signature, time DESC NULLS LAST);
DROP INDEX IF EXISTS record_signature;	-- of earlier versions
CREATE INDEX IF NOT EXISTS record_release ON record (release, signature);
CREATE INDEX IF NOT EXISTS record_path ON record (path);

-- Dumps that have no record.
CREATE TABLE IF NOT EXISTS bad_dump (
	path	text PRIMARY KEY,
	mtime	text NOT NULL,
	kind	text NOT NULL,
	message	text,
	loaded	timestamptz NOT NULL DEFAULT now()
);

-- Lines that are no records, for a person to look at.
CREATE TABLE IF NOT EXISTS bad_line (
	digest	text PRIMARY KEY,
	file	text NOT NULL,
	number	bigint NOT NULL,
	reason	text NOT NULL,
	line	text NOT NULL,
	loaded	timestamptz NOT NULL DEFAULT now()
);

-- If known: how many hours machines ran a release. Crashes alone do not say.
CREATE TABLE IF NOT EXISTS exposure (release text PRIMARY KEY, hours double precision NOT NULL CHECK (hours > 0));

-- --- parts of the records ---------------------------------------------------------------------

CREATE OR REPLACE VIEW frame AS
	SELECT identity, number, f->>'function' AS function, (f->>'offset')::numeric AS "offset", f->>'module' AS module,
		f->>'found' AS found
	FROM record, jsonb_array_elements(doc->'stack') WITH ORDINALITY AS s(f, number);

CREATE OR REPLACE VIEW module AS
	SELECT identity, m->>'name' AS name, m->>'version' AS version, m->>'srcversion' AS srcversion, m->>'taints' AS taints
	FROM record, jsonb_array_elements(doc->'modules') AS m;

CREATE OR REPLACE VIEW waiting AS
	SELECT identity, w->>'kind' AS kind, w->>'function' AS function, w->>'caller' AS caller, (w->>'tasks')::numeric AS tasks,
		(w->>'longest_ms')::numeric AS longest_ms
	FROM record, jsonb_array_elements(CASE jsonb_typeof(doc->'waiting') WHEN 'array' THEN doc->'waiting' ELSE '[]' END) AS w;

CREATE OR REPLACE VIEW memory AS
	SELECT identity, k->>'kind' AS kind, (k->>'bytes')::numeric AS bytes, (doc#>>'{memory,total}')::numeric AS total
	FROM record, jsonb_array_elements(CASE jsonb_typeof(doc#>'{memory,kinds}') WHEN 'array' THEN doc#>'{memory,kinds}' ELSE '[]' END) AS k;

-- --- questions --------------------------------------------------------------------------------

CREATE OR REPLACE VIEW top_crashes AS
	SELECT signature, count(*) AS crashes, count(DISTINCT host) AS hosts, min(time) AS first_seen, max(time) AS last_seen,
		count(DISTINCT release) AS releases
	FROM record GROUP BY signature ORDER BY crashes DESC;

CREATE OR REPLACE VIEW by_release AS
	SELECT signature, release, count(*) AS crashes, count(DISTINCT host) AS hosts, min(time) AS first_seen, max(time) AS last_seen
	FROM record GROUP BY signature, release ORDER BY crashes DESC;

CREATE OR REPLACE VIEW by_hardware AS
	SELECT signature, hardware, count(*) AS crashes, count(DISTINCT host) AS hosts
	FROM record GROUP BY signature, hardware ORDER BY crashes DESC;

-- The releases in the order in which they first crashed; what is new with each.
CREATE OR REPLACE VIEW new_in_release AS
	SELECT DISTINCT ON (signature) signature, release, first_seen, crashes
	FROM by_release WHERE first_seen IS NOT NULL ORDER BY signature, first_seen;

-- Signatures that no crash had before this release first crashed.
CREATE OR REPLACE FUNCTION new_since(wanted text)
RETURNS TABLE (signature text, crashes bigint, hosts bigint, first_seen timestamptz) LANGUAGE sql STABLE AS $$
	SELECT t.signature, t.crashes, t.hosts, t.first_seen FROM fleet.top_crashes t
	WHERE t.first_seen >= (SELECT min(r.time) FROM fleet.record r WHERE r.release = wanted)
	ORDER BY t.crashes DESC $$;

-- Places in which tasks wait in one and the same crash: lift is how many times as often as by chance.
CREATE OR REPLACE VIEW hang_together AS
	WITH total AS (SELECT place, count(*) AS crashes
		FROM record r CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.waits) AS place) p GROUP BY place),
	-- Each crash by itself: the planner knows too little of a join of all places to dare it.
	pair AS (SELECT a.place AS one, b.place AS other, count(*) AS crashes
		FROM record r CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.waits) AS place) a
			CROSS JOIN LATERAL (SELECT DISTINCT unnest(r.waits) AS place) b
		WHERE cardinality(r.waits) > 1 AND a.place < b.place GROUP BY 1, 2)
	SELECT one, other, pair.crashes, pair.crashes * (SELECT count(*) FROM record)::float8 / (a.crashes * b.crashes) AS lift
	FROM pair JOIN total a ON a.place = one JOIN total b ON b.place = other ORDER BY pair.crashes DESC;

-- P(X >= k) of X ~ Binomial(n, p), summed from the largest terms' logarithms.
CREATE OR REPLACE FUNCTION binomial_tail(k bigint, n bigint, p float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	term float8 := n * ln(1 - p);
	total float8 := 0;
BEGIN
	IF k <= 0 THEN RETURN 1; END IF;
	FOR i IN 0..n LOOP
		IF i >= k AND term > -700 THEN total := total + exp(term); END IF;
		IF i < n THEN term := term + ln((n - i)::float8 / (i + 1)) + ln(p / (1 - p)); END IF;
	END LOOP;
	RETURN least(total, 1);
END $$;

-- Signatures that are more frequent in the newer release. p: the chance of so many in it, or more,
-- if nothing had changed; confidence: 1 - p times the count of signatures asked about (Bonferroni).
CREATE OR REPLACE FUNCTION regressions(older text, newer text)
RETURNS TABLE (signature text, older_crashes bigint, newer_crashes bigint, ratio float8, p float8, confidence float8)
LANGUAGE sql STABLE AS $$
	WITH total AS (
		SELECT coalesce((SELECT hours FROM fleet.exposure WHERE release = older), o.n) AS o,
			coalesce((SELECT hours FROM fleet.exposure WHERE release = newer), w.n) AS w
		FROM (SELECT count(*)::float8 AS n FROM fleet.record WHERE release = older) o,
			(SELECT count(*)::float8 AS n FROM fleet.record WHERE release = newer) w),
	found AS (SELECT r.signature, count(*) FILTER (WHERE r.release = older) AS o, count(*) FILTER (WHERE r.release = newer) AS n
		FROM fleet.record r WHERE r.release IN (older, newer) GROUP BY r.signature),
	tested AS (SELECT f.*, t.o AS weight_o, t.w AS weight_n, fleet.binomial_tail(f.n, f.o + f.n, t.w / (t.o + t.w)) AS p
		FROM found f, total t WHERE t.o > 0 AND t.w > 0)
	SELECT t.signature, t.o, t.n, (t.n / t.weight_n) / nullif(t.o / t.weight_o, 0), t.p,
		greatest(0, 1 - t.p * count(*) OVER ())
	FROM tested t ORDER BY t.p $$;

-- --- signatures that are alike ----------------------------------------------------------------

-- A signature's frames are those of its newest crash. Two of one kind are alike if they begin with
-- the same two functions and a third of the frames, at most, would have to be changed, put in or
-- taken out; or if one is the other without its innermost function, which a compiler may inline.
-- levenshtein() compares characters: each function gets one.
CREATE OR REPLACE VIEW alike AS
	-- From the index, a signature at a time: to sort millions of records takes a minute.
	WITH RECURSIVE name AS (
		(SELECT min(signature) AS signature FROM record)
		UNION ALL SELECT (SELECT min(r.signature) FROM record r WHERE r.signature > name.signature)
		FROM name WHERE name.signature IS NOT NULL),
	newest AS (SELECT name.signature, r.kind, r.frames FROM name CROSS JOIN LATERAL (SELECT kind, frames FROM record
			WHERE record.signature = name.signature AND cardinality(frames) > 0
			ORDER BY time DESC NULLS LAST LIMIT 1) r),
	letter AS (SELECT function, chr((65536 + dense_rank() OVER (ORDER BY function))::int) AS letter
		FROM (SELECT DISTINCT unnest(frames) AS function FROM newest) f),
	word AS MATERIALIZED (SELECT signature, kind, frames, string_agg(letter, '' ORDER BY number) AS word
		FROM newest CROSS JOIN LATERAL unnest(frames) WITH ORDINALITY AS f(function, number) JOIN letter USING (function)
		GROUP BY signature, kind, frames)
	SELECT a.signature AS one, b.signature AS other, levenshtein(a.word, b.word) AS distance
	FROM word a JOIN word b ON a.kind = b.kind AND a.signature < b.signature
		AND a.frames[1] = b.frames[1] AND a.frames[2] IS NOT DISTINCT FROM b.frames[2]
	WHERE 3 * levenshtein(a.word, b.word) <= greatest(length(a.word), length(b.word))
	UNION
	SELECT least(a.signature, b.signature), greatest(a.signature, b.signature), 1
	FROM word a JOIN word b ON a.kind = b.kind AND a.frames[2] = b.frames[1] AND a.signature <> b.signature
	WHERE length(b.word) >= 3 AND (substr(a.word, 2) = b.word
		OR length(a.word) = 8 AND starts_with(b.word, substr(a.word, 2)));	-- which were cut there

-- Each signature with the least of those to which steps of alike lead.
CREATE OR REPLACE FUNCTION clusters() RETURNS TABLE (cluster text, signature text, crashes bigint) LANGUAGE sql STABLE AS $$
	-- Once, and not as top_crashes counts: their hosts take longer than all the rest.
	WITH RECURSIVE counted AS MATERIALIZED (SELECT r.signature, count(*) AS crashes FROM fleet.record r
		WHERE r.signature IS NOT NULL GROUP BY r.signature),
	pair AS MATERIALIZED (SELECT one, other FROM fleet.alike),
	edge AS MATERIALIZED (SELECT one, other FROM pair UNION ALL SELECT other, one FROM pair),
	reach(signature, name) AS (
		SELECT t.signature, t.signature FROM counted t
		UNION SELECT reach.signature, edge.other FROM reach JOIN edge ON edge.one = reach.name)
	SELECT min(reach.name COLLATE "C"), reach.signature, t.crashes
	FROM reach JOIN counted t USING (signature) GROUP BY reach.signature, t.crashes ORDER BY 1, 3 DESC $$;

-- --- what fleet/load calls ---------------------------------------------------------------------

-- Out of the staging table into the others. The same lines again change nothing.
CREATE OR REPLACE FUNCTION merge_staged(OUT new bigint, OUT better bigint, OUT bad bigint) LANGUAGE plpgsql AS $$
BEGIN
	WITH best AS (SELECT DISTINCT ON (identity) * FROM staged WHERE doc IS NOT NULL ORDER BY identity, quality DESC, path),
	done AS (INSERT INTO fleet.record AS r (identity, path, time, uptime, release, build_id, host, hardware, kind, signature,
			quality, frames, waits, doc)
		SELECT identity, path, time, uptime, release, build_id, host, hardware, kind, signature, quality, frames, waits, doc
		FROM best
		ON CONFLICT (identity) DO UPDATE SET path = excluded.path, time = excluded.time, uptime = excluded.uptime,
			release = excluded.release, build_id = excluded.build_id, host = excluded.host, hardware = excluded.hardware,
			kind = excluded.kind, signature = excluded.signature, quality = excluded.quality, frames = excluded.frames,
			waits = excluded.waits, doc = excluded.doc, loaded = now()
		WHERE excluded.quality > r.quality
		RETURNING xmax = 0 AS is_new)
	SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) INTO new, better FROM done;
	-- Another run, with more time or a newer program, may have made a record of a bad dump.
	DELETE FROM fleet.bad_dump b USING staged s WHERE s.doc IS NOT NULL AND s.path = b.path AND s.mtime >= b.mtime;
	WITH last AS (SELECT DISTINCT ON (path) * FROM staged s WHERE doc IS NULL
			AND NOT EXISTS (SELECT FROM staged g WHERE g.doc IS NOT NULL AND g.path = s.path AND g.mtime >= s.mtime)
			AND NOT EXISTS (SELECT FROM fleet.record r WHERE r.path = s.path AND r.doc#>>'{source,mtime}' >= s.mtime)
			ORDER BY path, mtime DESC),
	done AS (INSERT INTO fleet.bad_dump AS b (path, mtime, kind, message) SELECT path, mtime, kind, signature FROM last
		ON CONFLICT (path) DO UPDATE SET mtime = excluded.mtime, kind = excluded.kind, message = excluded.message
		WHERE excluded.mtime > b.mtime RETURNING 1)
	SELECT count(*) INTO bad FROM done;
END $$;
COMMIT;
