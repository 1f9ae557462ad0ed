# Sourced by up.sh and down.sh: where the test cluster lives and how its daemons are recognised.
CONF_LINK=/etc/slurm/slurm.conf   # the job step drops SLURM_CONF, so Slurm must find its file at the default place
DEFAULT_PREFIX=${TMPDIR:-/tmp}/cgnn-slurm

say() { printf 'slurm: %s\n' "$*"; }
fail() { printf 'slurm: %s\n' "$*" >&2; exit 1; }

# Only a process that still bears the daemon's name is ours: a pid may have been given to another since.
running() { # running PIDFILE NAME
  local pid
  pid=$(cat "$1" 2>/dev/null) && [ -n "$pid" ] && [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$2" ]
}

within() { # within SECONDS COMMAND...: repeat the command until it succeeds
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ "$SECONDS" -lt "$deadline" ] || return 1
    sleep 0.2
  done
}
