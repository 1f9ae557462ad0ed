#!/usr/bin/env bash
# Start a real one-node Slurm cluster on this machine, from Debian's packages, without systemd, on loopback only.
#
#   sudo tests/slurm/up.sh          start it; does nothing if it is already running
#   sudo tests/slurm/down.sh        cancel its jobs and stop its daemons
#
#   PREFIX   directory of its state and logs (default: $TMPDIR/cgnn-slurm)
#   CPUS     number of CPUs of the node (default: that of the machine)
#   MEMORY   memory of the node in MiB (default: 16000)
#   GPUS     number of fake GPUs (default: 2)
#
# Partitions `main` and `gpu`, account `paper`, accounting in a private MariaDB so that `sacct` answers.
# The GPUs are character devices like /dev/null: Slurm counts and assigns them, but they compute nothing.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

[ "$(id -u)" = 0 ] || fail "needs root: it starts munged, slurmctld and slurmd and writes $CONF_LINK"
command -v apt-get >/dev/null && [ -e /etc/debian_version ] || fail "needs Debian or a derivative (apt-get)"

PREFIX=${PREFIX:-$DEFAULT_PREFIX}
CPUS=${CPUS:-$(nproc --all)}  # --all: plain nproc depends on OMP_NUM_THREADS
MEMORY=${MEMORY:-16000}
GPUS=${GPUS:-2}
NODE=$(hostname -s)
CONTROLLER_PORT=6817 NODE_PORT=6818 ACCOUNTING_PORT=6819 DATABASE_PORT=33066

if [ -e "$CONF_LINK" ] && [ "$(readlink -f "$CONF_LINK")" != "$(readlink -f "$PREFIX/slurm.conf")" ]; then
  fail "$CONF_LINK belongs to another Slurm; this script does not touch it"
fi
# The daemons listen on the address of the host name; if that is not loopback, others could connect to the ports.
case $(getent ahostsv4 "$NODE" | awk 'NR == 1 { print $1 }') in
  127.*) ;;
  *) fail "host name '$NODE' does not resolve to 127.0.0.0/8; add '127.0.0.1 $NODE' to /etc/hosts" ;;
esac

install_packages() {
  local wanted=(munge slurmctld slurmd slurm-client slurmdbd mariadb-server-core mariadb-client-core) missing=() name
  for name in "${wanted[@]}"; do
    dpkg-query -W -f '${db:Status-Status}' "$name" 2>/dev/null | grep -qx installed || missing+=("$name")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  say "installing ${missing[*]}"
  # Debian would start the daemons with its own configuration; exit 101 forbids that.
  local policy=/usr/sbin/policy-rc.d ours=
  if [ ! -e $policy ]; then
    printf '#!/bin/sh\nexit 101\n' >$policy
    chmod +x $policy
    ours=yes
  fi
  local log=$PREFIX/log/apt.log status=0
  export DEBIAN_FRONTEND=noninteractive
  timeout 300 apt-get -q -o DPkg::Lock::Timeout=120 update >"$log" 2>&1 || true
  timeout 600 apt-get -q -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "${missing[@]}" >>"$log" 2>&1 || status=$?
  [ -z "$ours" ] || rm -f $policy
  [ $status = 0 ] || { tail -15 "$log" >&2; fail "apt-get could not install them, see above"; }
}

write_configuration() {
  [ -s "$PREFIX/munge.key" ] || (umask 077 && head -c 512 /dev/urandom >"$PREFIX/munge.key")
  [ -s "$PREFIX/password" ] || (umask 077 && od -An -N16 -tx1 /dev/urandom | tr -d ' \n' >"$PREFIX/password")
  local i
  : >"$PREFIX/gres.conf"
  for ((i = 0; i < GPUS; i++)); do
    [ -c "$PREFIX/gpu$i" ] || mknod "$PREFIX/gpu$i" c 1 3
    echo "NodeName=$NODE Name=gpu File=$PREFIX/gpu$i" >>"$PREFIX/gres.conf"
  done
  cat >"$PREFIX/slurm.conf" <<CONF
ClusterName=cgnn
SlurmctldHost=$NODE(127.0.0.1)
SlurmctldPort=$CONTROLLER_PORT
SlurmdPort=$NODE_PORT
SrunPortRange=60101-60400
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$PREFIX/munge/socket
StateSaveLocation=$PREFIX/controller
SlurmdSpoolDir=$PREFIX/node
SlurmctldPidFile=$PREFIX/pid/slurmctld
SlurmdPidFile=$PREFIX/pid/slurmd
SlurmctldLogFile=$PREFIX/log/slurmctld.log
SlurmdLogFile=$PREFIX/log/slurmd.log
# No cgroups, because containers and CI machines rarely provide them.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=task=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=5
# A request that no node can satisfy is refused immediately instead of pending forever.
EnforcePartLimits=ALL
# Snakemake asks squeue for the state of finished jobs, so the controller must keep them.
MinJobAge=3600
ReturnToService=2
KillWait=5
GresTypes=gpu
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=$ACCOUNTING_PORT
AccountingStoragePass=$PREFIX/munge/socket
AccountingStorageTRES=gres/gpu
AccountingStoreFlags=job_comment
NodeName=$NODE NodeAddr=127.0.0.1 CPUs=$CPUS RealMemory=$MEMORY Gres=gpu:$GPUS
PartitionName=main Nodes=$NODE Default=YES DefaultTime=10 MaxTime=1-0 DefMemPerCPU=500
PartitionName=gpu Nodes=$NODE DefaultTime=10 MaxTime=1-0 DefMemPerCPU=500
CONF
  (umask 077 && cat >"$PREFIX/slurmdbd.conf" <<CONF
AuthType=auth/munge
AuthInfo=socket=$PREFIX/munge/socket
CommunicationParameters=NoInAddrAny
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort=$ACCOUNTING_PORT
SlurmUser=root
PidFile=$PREFIX/pid/slurmdbd
LogFile=$PREFIX/log/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$DATABASE_PORT
StorageUser=slurm
StoragePass=$(cat "$PREFIX/password")
StorageLoc=slurm
CONF
  )
  mkdir -p "$(dirname "$CONF_LINK")"
  ln -sfn "$PREFIX/slurm.conf" "$CONF_LINK"
}

start_munge() {
  rm -f "$PREFIX"/munge/socket*
  munged --key-file="$PREFIX/munge.key" --socket="$PREFIX/munge/socket" --pid-file="$PREFIX/pid/munged" \
    --log-file="$PREFIX/log/munged.log" --seed-file="$PREFIX/munge/seed"
}

start_database() {
  [ -d "$PREFIX/database/mysql" ] || timeout 120 mariadb-install-db --no-defaults --user=root --skip-test-db \
    --datadir="$PREFIX/database" --auth-root-authentication-method=socket >"$PREFIX/log/database.log" 2>&1
  (umask 077 && cat >"$PREFIX/grant.sql" <<SQL
CREATE DATABASE IF NOT EXISTS slurm;
CREATE OR REPLACE USER slurm@'127.0.0.1' IDENTIFIED BY '$(cat "$PREFIX/password")';
CREATE OR REPLACE USER slurm@localhost IDENTIFIED BY '$(cat "$PREFIX/password")';
GRANT ALL ON slurm.* TO slurm@'127.0.0.1';
GRANT ALL ON slurm.* TO slurm@localhost;
SQL
  )
  setsid mariadbd --no-defaults --user=root --datadir="$PREFIX/database" --socket="$PREFIX/database.sock" \
    --bind-address=127.0.0.1 --port=$DATABASE_PORT --pid-file="$PREFIX/pid/mariadbd" --init-file="$PREFIX/grant.sql" \
    --innodb-buffer-pool-size=64M --innodb-lock-wait-timeout=900 \
    --log-error="$PREFIX/log/mariadbd.log" </dev/null >/dev/null 2>&1 &
  within 60 test -s "$PREFIX/pid/mariadbd" || fail "MariaDB did not start, see $PREFIX/log/mariadbd.log"
}

add_account() {
  has() { sacctmgr -n show "$@" | grep -q .; }
  add() { timeout 30 sacctmgr --immediate add "$@" >/dev/null; }
  has cluster cgnn || add cluster cgnn
  has account paper || add account paper
  has assoc user=root account=paper || add user root account=paper
}

node_is_usable() { sinfo -h -n "$NODE" -o %T | grep -qE '^(idle|mixed|allocated)$'; }

# Slurm looks for gres.conf and slurmdbd.conf next to the real slurm.conf, not next to the link to it.
export SLURM_CONF=$PREFIX/slurm.conf
mkdir -p "$PREFIX"/{log,pid,munge,controller,node}
chmod 755 "$PREFIX"  # munged refuses a socket below a directory that others may write to
install_packages
# Running daemons have already read it; for example, another number of CPUs would make slurmctld abort jobs on restart.
running "$PREFIX/pid/slurmctld" slurmctld || write_configuration
running "$PREFIX/pid/munged" munged || start_munge
within 15 timeout 5 munge -n -S "$PREFIX/munge/socket" || fail "munged does not answer, see $PREFIX/log/munged.log"
running "$PREFIX/pid/mariadbd" mariadbd || start_database
running "$PREFIX/pid/slurmdbd" slurmdbd || slurmdbd
within 60 timeout 10 sacctmgr -n show cluster || fail "slurmdbd does not answer, see $PREFIX/log/slurmdbd.log"
add_account
running "$PREFIX/pid/slurmctld" slurmctld || slurmctld
within 30 timeout 10 scontrol ping || fail "slurmctld does not answer, see $PREFIX/log/slurmctld.log"
running "$PREFIX/pid/slurmd" slurmd || slurmd
within 10 node_is_usable || scontrol update NodeName="$NODE" State=RESUME || true
within 20 node_is_usable || fail "the node does not start: $(sinfo -h -N -o '%N %T %E')"
say "up after ${SECONDS}s in $PREFIX: $(sinfo -h -o '%P %T %G' | tr '\n' ';')"
