# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of fleet/: a PostgreSQL of its own in $folder, as a user that is not root, and a Slurm.

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

# munged, slurmctld and slurmd in $folder; their numbers are added to $daemons. As root.
start_slurm() {
	mkdir "$folder/munge" "$folder/state" "$folder/spool"
	dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 2>/dev/null
	chown -R munge:munge "$folder/munge"
	chmod 755 "$folder/munge"
	chmod 400 "$folder/munge/key"
	setpriv --reuid munge --regid munge --clear-groups munged -F --key-file="$folder/munge/key" \
		--socket="$folder/munge/socket" --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" \
		--seed-file="$folder/munge/seed" 2>/dev/null &
	daemons="$daemons $!"
	host=$(hostname -s)
	cat >"$folder/slurm.conf" <<END
ClusterName=fleet
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
AuthType=auth/munge
AuthInfo=socket=$folder/munge/socket
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES State=UP
SlurmdParameters=config_overrides
ReturnToService=2
END
	# No job is put into a cgroup, but slurmd does not start where it is to find out itself which there are, and none is mounted.
	echo CgroupPlugin=cgroup/v1 >"$folder/cgroup.conf"
	export SLURM_CONF="$folder/slurm.conf"
	for _ in $(seq 100); do [ -S "$folder/munge/socket" ] && break; sleep 0.1; done
	slurmctld -D -f "$SLURM_CONF" >/dev/null 2>&1 &
	daemons="$daemons $!"
	slurmd -D -f "$SLURM_CONF" >/dev/null 2>&1 &
	daemons="$daemons $!"
	for _ in $(seq 60); do
		sinfo -h -o %t 2>/dev/null | grep -q idle && break
		sleep 1
	done
	sinfo -h -o %t | grep -q idle || { echo 'FAIL Slurm does not start'; tail -n 5 "$folder"/*.log; return 1; }
}
