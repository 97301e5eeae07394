-- SPDX-License-Identifier: GPL-3.0-or-later
-- The records of a fleet in PostgreSQL (14 and later): psql -f fleet/schema.sql. May be run again.
-- What the views mean is in fleet/README.md.
\set ON_ERROR_STOP on
BEGIN;
SET LOCAL client_min_messages = warning;
CREATE SCHEMA IF NOT EXISTS fleet;
CREATE EXTENSION IF NOT EXISTS fuzzystrmatch SCHEMA fleet;	-- levenshtein()
SET LOCAL search_path = fleet;


-- An index of paths, which an entry of an index has no room for, is one of these.
CREATE OR REPLACE FUNCTION digest(name text) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
	SELECT sha256(convert_to(name, 'UTF8')) $$;

-- No text of an indexed column has more than 2,048 bytes, nor any other name but a path: fleet/load cuts what is longer, and
-- puts a digest behind it, by which equal ones stay equal. cut names the columns that it did so to; doc has all.
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
	waits		text[] NOT NULL,	-- for what tasks wait, "kind function caller": 64 of them at most
	cut		text[] NOT NULL DEFAULT '{}',	-- columns that do not have all of doc
	loaded		timestamptz NOT NULL DEFAULT now(),
	doc		jsonb NOT NULL
);
-- Of earlier versions.
ALTER TABLE record ADD COLUMN IF NOT EXISTS cut text[] NOT NULL DEFAULT '{}';
DROP INDEX IF EXISTS record_signature;
DROP INDEX IF EXISTS record_path;
UPDATE record SET waits = waits[:64], cut = cut || '{waits}' WHERE cardinality(waits) > 64;
ALTER TABLE record DROP CONSTRAINT IF EXISTS record_places, ADD CONSTRAINT record_places CHECK (cardinality(waits) <= 64),
	DROP CONSTRAINT IF EXISTS record_frames, ADD CONSTRAINT record_frames CHECK (cardinality(frames) <= 8);

-- The newest of a signature first, as alike asks for it.
CREATE INDEX IF NOT EXISTS record_newest ON record (signature, time DESC NULLS LAST);
CREATE INDEX IF NOT EXISTS record_release ON record (release, signature);
CREATE INDEX IF NOT EXISTS record_path_digest ON record (digest(path));
CREATE INDEX IF NOT EXISTS record_cut ON record (identity) WHERE cut <> '{}';
CREATE INDEX IF NOT EXISTS record_many_places ON record (identity) WHERE cardinality(waits) > 32;

-- Dumps that have no record.
CREATE TABLE IF NOT EXISTS bad_dump (
	path	text NOT NULL,
	mtime	text NOT NULL,
	kind	text NOT NULL,
	message	text,
	loaded	timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE bad_dump DROP CONSTRAINT IF EXISTS bad_dump_pkey;	-- of earlier versions: the path
CREATE UNIQUE INDEX IF NOT EXISTS bad_dump_path ON bad_dump (digest(path));

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

-- Records of which a column has less than doc, or which have more than hang_together looks at.
CREATE OR REPLACE VIEW cut AS
	SELECT identity, path, unnest(cut) AS what FROM record WHERE cut <> '{}'
	UNION ALL SELECT identity, path, 'hang_together' FROM record WHERE cardinality(waits) > 32;

-- Places in which tasks wait in two crashes at least, in one and the same: lift is how many times as often as by chance.
-- Of a crash those 32 places that most crashes have: each with each is 496 pairs, of 64 they would be four times as many.
CREATE OR REPLACE VIEW hang_together AS
	-- Places by their numbers: texts of all pairs would fill a disk.
	WITH wait AS MATERIALIZED (SELECT DISTINCT r.identity, place
		FROM record r CROSS JOIN LATERAL unnest(r.waits) AS place),
	total AS MATERIALIZED (SELECT place, row_number() OVER ()::int AS number, count(*) AS crashes
		FROM wait GROUP BY place HAVING count(*) > 1),
	crash AS MATERIALIZED (SELECT (array_agg(total.number ORDER BY total.crashes DESC, total.number))[:32] AS places
		FROM wait JOIN total USING (place) GROUP BY wait.identity HAVING count(*) > 1),
	-- Each crash by itself: the planner knows too little of a join of all places to dare it.
	pair AS (SELECT a.number AS one, b.number AS other, count(*) AS crashes
		FROM crash CROSS JOIN LATERAL unnest(places) AS a(number) CROSS JOIN LATERAL unnest(places) AS b(number)
		WHERE a.number < b.number GROUP BY 1, 2 HAVING count(*) > 1)
	SELECT a.place AS one, b.place AS other, pair.crashes,
		pair.crashes * (SELECT count(*) FROM record)::float8 / (a.crashes * b.crashes) AS lift
	FROM pair JOIN total a ON a.number = one JOIN total b ON b.number = other ORDER BY pair.crashes DESC;

-- P(X >= k) of X ~ Binomial(n, p), summed from the largest terms' logarithms.
CREATE OR REPLACE FUNCTION binomial_tail(k bigint, n bigint, p float8) RETURNS float8 LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
	term float8 := n * ln(greatest(1 - p, 1e-300));
	total float8 := 0;
BEGIN
	IF k <= 0 OR p >= 1 THEN RETURN 1; END IF;
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

-- A signature's frames are those of its newest crash. Signatures have numbers, in their order, for pairs of long texts would
-- fill a disk. From the index, a signature at a time: to sort millions of records takes a minute.
CREATE OR REPLACE VIEW numbered AS
	WITH RECURSIVE name AS (
		(SELECT min(signature) AS signature FROM record)
		UNION ALL SELECT (SELECT min(r.signature) FROM record r WHERE r.signature > name.signature)
		FROM name WHERE name.signature IS NOT NULL)
	SELECT name.signature, row_number() OVER (ORDER BY name.signature COLLATE "C")::int AS number, r.kind, r.frames
	FROM name LEFT JOIN LATERAL (SELECT kind, frames FROM record WHERE record.signature = name.signature AND cardinality(frames) > 0
			ORDER BY time DESC NULLS LAST LIMIT 1) r ON true
	WHERE name.signature IS NOT NULL;

-- Two of one kind are alike if they begin with the same two functions and a third of the frames, at most, would have to be
-- changed, put in or taken out; or if one is the other without its innermost function, which a compiler may inline.
-- levenshtein() compares characters: of those that begin alike each function gets one.
CREATE OR REPLACE VIEW alike_numbers AS
	WITH newest AS MATERIALIZED (SELECT number, kind, frames FROM numbered WHERE frames IS NOT NULL),
	word AS MATERIALIZED (SELECT number, kind, frames[1] AS first, frames[2] AS second, string_agg(letter, '' ORDER BY place) AS word,
			count(*)::int AS size
		FROM (SELECT newest.*, place, chr((65536 + dense_rank() OVER (PARTITION BY kind, frames[1], frames[2] ORDER BY function))::int) AS letter
			FROM newest CROSS JOIN LATERAL unnest(frames) WITH ORDINALITY AS f(function, place)) f
		GROUP BY number, kind, first, second)
	SELECT a.number AS one, b.number AS other, levenshtein(a.word, b.word) AS distance
	FROM word a JOIN word b ON a.kind = b.kind AND a.number < b.number AND a.first = b.first AND a.second IS NOT DISTINCT FROM b.second
	WHERE levenshtein_less_equal(a.word, b.word, greatest(a.size, b.size) / 3) <= greatest(a.size, b.size) / 3
	UNION
	SELECT least(a.number, b.number), greatest(a.number, b.number), 1
	FROM newest a JOIN newest b ON a.kind = b.kind AND a.frames[2] = b.frames[1] AND a.number <> b.number
	WHERE cardinality(b.frames) >= 3 AND (a.frames[2:] = b.frames
		OR cardinality(a.frames) = 8 AND a.frames[2:] = b.frames[:7]);	-- which were cut there

CREATE OR REPLACE VIEW alike AS
	WITH name AS MATERIALIZED (SELECT signature, number FROM numbered)
	SELECT a.signature AS one, b.signature AS other, n.distance
	FROM alike_numbers n JOIN name a ON a.number = n.one JOIN name b ON b.number = n.other;

-- Each signature with the least of those to which steps of alike lead. In rounds: each goes to the least that it is alike to,
-- and from there as far as these lead; what is left are the steps between those where others have come to.
DROP FUNCTION IF EXISTS clusters();
CREATE FUNCTION clusters() RETURNS TABLE (cluster text, signature text, crashes bigint) LANGUAGE plpgsql STABLE AS $$
DECLARE
	least_of int[] := ARRAY(SELECT number FROM fleet.numbered ORDER BY number);
	ones int[];
	others int[];
	leads int[];
	farther int[];
BEGIN
	SELECT array_agg(one), array_agg(other) INTO ones, others FROM fleet.alike_numbers;
	WHILE cardinality(ones) > 0 LOOP
		leads := ARRAY(SELECT coalesce(nearest.one, n) FROM generate_series(1, cardinality(least_of)) n
			LEFT JOIN (SELECT other, min(one) AS one FROM unnest(ones, others) AS e(one, other) GROUP BY other) nearest ON nearest.other = n
			ORDER BY n);
		LOOP
			farther := ARRAY(SELECT leads[n] FROM unnest(leads) WITH ORDINALITY AS l(n, place) ORDER BY place);
			EXIT WHEN farther = leads;
			leads := farther;
		END LOOP;
		least_of := ARRAY(SELECT leads[n] FROM unnest(least_of) WITH ORDINALITY AS l(n, place) ORDER BY place);
		SELECT array_agg(one), array_agg(other) INTO ones, others FROM (
			SELECT DISTINCT least(leads[e.one], leads[e.other]) AS one, greatest(leads[e.one], leads[e.other]) AS other
			FROM unnest(ones, others) AS e(one, other) WHERE leads[e.one] <> leads[e.other]) e;
	END LOOP;
	RETURN QUERY WITH name AS MATERIALIZED (SELECT n.signature, n.number FROM fleet.numbered n),
		-- Once, and not as top_crashes counts: their hosts take longer than all the rest.
		counted AS MATERIALIZED (SELECT r.signature, count(*) AS crashes FROM fleet.record r WHERE r.signature IS NOT NULL GROUP BY r.signature)
		SELECT first.signature, name.signature, counted.crashes
		FROM name JOIN counted USING (signature) JOIN name first ON first.number = least_of[name.number]
		ORDER BY first.signature COLLATE "C", counted.crashes DESC;
END $$;

-- --- what fleet/load calls ---------------------------------------------------------------------

-- Out of the staging table into the others. The same lines again change nothing.
CREATE OR REPLACE FUNCTION merge_staged(OUT new bigint, OUT better bigint, OUT bad bigint) LANGUAGE plpgsql AS $$
BEGIN
	WITH best AS (SELECT DISTINCT ON (identity) * FROM staged WHERE doc IS NOT NULL ORDER BY identity, quality DESC, path),
	done AS (INSERT INTO fleet.record AS r (identity, path, time, uptime, release, build_id, host, hardware, kind, signature,
			quality, frames, waits, cut, doc)
		SELECT identity, path, time, uptime, release, build_id, host, hardware, kind, signature, quality, frames, waits, cut, doc
		FROM best
		ON CONFLICT (identity) DO UPDATE SET path = excluded.path, time = excluded.time, uptime = excluded.uptime,
			release = excluded.release, build_id = excluded.build_id, host = excluded.host, hardware = excluded.hardware,
			kind = excluded.kind, signature = excluded.signature, quality = excluded.quality, frames = excluded.frames,
			waits = excluded.waits, cut = excluded.cut, doc = excluded.doc, loaded = now()
		WHERE excluded.quality > r.quality
		RETURNING xmax = 0 AS is_new)
	SELECT count(*) FILTER (WHERE is_new), count(*) FILTER (WHERE NOT is_new) INTO new, better FROM done;
	-- Another run, with more time or a newer program, may have made a record of a bad dump.
	DELETE FROM fleet.bad_dump b USING staged s WHERE s.doc IS NOT NULL AND fleet.digest(s.path) = fleet.digest(b.path)
		AND s.path = b.path AND s.mtime >= b.mtime;
	WITH last AS (SELECT DISTINCT ON (path) * FROM staged s WHERE doc IS NULL
			AND NOT EXISTS (SELECT FROM staged g WHERE g.doc IS NOT NULL AND g.path = s.path AND g.mtime >= s.mtime)
			AND NOT EXISTS (SELECT FROM fleet.record r WHERE fleet.digest(r.path) = fleet.digest(s.path) AND r.path = s.path
				AND r.doc#>>'{source,mtime}' >= s.mtime)
			ORDER BY path, mtime DESC),
	done AS (INSERT INTO fleet.bad_dump AS b (path, mtime, kind, message) SELECT path, mtime, kind, signature FROM last
		ON CONFLICT (fleet.digest(path)) DO UPDATE SET mtime = excluded.mtime, kind = excluded.kind, message = excluded.message
		WHERE excluded.mtime > b.mtime RETURNING 1)
	SELECT count(*) INTO bad FROM done;
END $$;
COMMIT;
