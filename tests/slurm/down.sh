#!/usr/bin/env bash
# Stop the cluster that up.sh started: cancel its jobs, end its daemons by their pid files, remove the link.
# PREFIX as in up.sh; without it, the one the link in /etc/slurm points to. State and logs stay; --purge removes them.
set -u
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [ -z "${PREFIX:-}" ] && [ -L "$CONF_LINK" ]; then PREFIX=$(dirname "$(readlink "$CONF_LINK")"); fi
PREFIX=${PREFIX:-$DEFAULT_PREFIX}
[ -d "$PREFIX/pid" ] || { say "nothing to stop in $PREFIX"; exit 0; }

if running "$PREFIX/pid/slurmctld" slurmctld; then
  timeout 10 squeue -h -o %A | sort -u | xargs -r timeout 20 scancel
  no_job_left() { [ -z "$(timeout 5 squeue -h -t pending,running,completing)" ]; }
  within 20 no_job_left
fi
for daemon in slurmd slurmctld slurmdbd mariadbd munged; do
  file=$PREFIX/pid/$daemon
  if running "$file" "$daemon"; then
    kill -TERM "$(cat "$file")"
    gone() { ! running "$file" "$daemon"; }
    within 15 gone || { say "$daemon did not stop after SIGTERM and is killed"; kill -KILL "$(cat "$file")"; }
  fi
  rm -f "$file"
done
[ "$(readlink "$CONF_LINK" 2>/dev/null)" != "$PREFIX/slurm.conf" ] || rm -f "$CONF_LINK"
[ "${1:-}" != --purge ] || rm -rf "$PREFIX"
say "down"
