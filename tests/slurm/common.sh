# Sourced by up.sh and down.sh: the paths of the test cluster and functions to find its daemons.
CONF_LINK=/etc/slurm/slurm.conf   # job steps drop SLURM_CONF, so Slurm must find its file at the default path
DEFAULT_PREFIX=${TMPDIR:-/tmp}/cgnn-slurm

say() { printf 'slurm: %s\n' "$*"; }
fail() { printf 'slurm: %s\n' "$*" >&2; exit 1; }

# The PID may have been reused, so the process must also have the name of the daemon.
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
