# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of fleet/: a PostgreSQL of its own in $folder, as a user that is not root.

# shellcheck disable=SC2154 # $folder is the caller's
find_postgres() {
	postgres=$(find /usr/lib/postgresql -path '*/bin/pg_ctl' 2>/dev/null | sort -V | tail -n 1)
	postgres=${postgres%/pg_ctl}
	[ "$postgres" ]
}

# PostgreSQL does not run as root.
as_user() {
	if [ "$(id -u)" = 0 ]; then
		(cd / && setpriv --reuid postgres --regid postgres --init-groups "$@")
	else
		"$@"
	fi
}

start_postgres() {
	mkdir -p "$folder/db"
	if [ "$(id -u)" = 0 ]; then
		chmod 711 "$folder"
		chown postgres "$folder/db"
	fi
	as_user "$postgres/initdb" -D "$folder/db/data" -U postgres -A trust -E UTF8 --locale=C >/dev/null
	restart_postgres
	export PGHOST="$folder/db" PGUSER=postgres PGDATABASE=postgres PGPORT=5432
}

# No port of the machine: a socket in the folder.
restart_postgres() {
	as_user "$postgres/pg_ctl" -D "$folder/db/data" -w -s -m immediate -l "$folder/db/log" \
		-o "-k $folder/db -c listen_addresses= -c shared_buffers=128MB" "${1:-start}"
}

stop_postgres() {
	as_user "$postgres/pg_ctl" -D "$folder/db/data" -w -s -m immediate stop
}
