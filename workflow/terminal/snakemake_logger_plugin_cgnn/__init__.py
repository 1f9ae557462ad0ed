"""One line per finished job on the terminal: a counter, the job's result and the time left.

A logger plugin of Snakemake's public interface, for `snakemake --logger cgnn`; `make quick` and `make paper` select it
by putting its folder on PYTHONPATH. Snakemake writes its full log, with every command, to .snakemake/log as usual.
"""

import logging
import os
import re
import shutil
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

#: Tells the rules that this plugin prints the last line of a job's log, so that jobs need not print it themselves.
os.environ["CGNN_LOGGER"] = "1"

LOG_LINES = 20  # of a failed job
FULL_LOG = "Complete log(s): "


@dataclass
class Estimate:
    """Time left from the mean seconds of each rule's finished jobs and the number of jobs that ran at a time."""

    wanted: Counter[str]
    started: float
    finished: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)

    def add(self, rule: str, seconds: float) -> None:
        self.finished[rule] += 1
        self.seconds[rule] += seconds  # type: ignore[assignment]

    def left(self, now: float) -> str:
        """The time left in words, "at least" if most jobs belong to rules of which none has finished yet."""
        busy, count = sum(self.seconds.values()), sum(self.finished.values())
        if not busy or now <= self.started:
            return ""
        jobs = {rule: max(0, many - self.finished[rule]) for rule, many in self.wanted.items()}
        work = sum(jobs[rule] * self.seconds[rule] / self.finished[rule] for rule in jobs if self.finished[rule])
        unknown = sum(jobs[rule] for rule in jobs if not self.finished[rule])
        vague = unknown > sum(jobs.values()) / 2
        if not vague:
            work += unknown * busy / count
        return f"{'at least ' if vague else ''}{duration(work / max(1.0, busy / (now - self.started)))} left"


@dataclass(frozen=True)
class Job:
    rule: str
    message: str
    log: tuple[str, ...]
    output: tuple[str, ...]
    started: float


class LogHandler(LogHandlerBase):
    def __post_init__(self) -> None:
        self.stream = sys.stdout if self.common_settings.stdout else sys.stderr
        self.jobs: dict[int, Job] = {}
        self.done = 0
        self.total = 0
        self.estimate: Estimate | None = None
        self.shown: set[str] = set()

    # A handler that writes to the terminal replaces Snakemake's handler and decides what to show.
    writes_to_stream = True
    writes_to_file = False
    has_filter = True
    has_formatter = True
    needs_rulegraph = False

    def emit(self, record: logging.LogRecord) -> None:
        try:
            text = self.text_of(record)
            if text:
                print(text, file=self.stream, flush=True)
        except Exception:
            self.handleError(record)

    def text_of(self, record: logging.LogRecord) -> str:
        """What the terminal shows of a record; the empty string for nothing."""
        event = getattr(record, "event", None)
        match event:
            case LogEvent.RUN_INFO:
                return self._plan(record)
            case LogEvent.JOB_INFO:
                return self._start(record)
            case LogEvent.JOB_FINISHED:
                return self._finish(record)
            case LogEvent.PROGRESS:
                self.done, self.total = record.done, record.total  # type: ignore[attr-defined]
                return ""
            case LogEvent.JOB_ERROR | LogEvent.GROUP_ERROR:
                return failure(record)
            case None | LogEvent.ERROR:
                return self._message(record)
        return ""

    def _plan(self, record: logging.LogRecord) -> str:
        stats = {rule: int(count) for rule, count in record.stats.items() if rule != "total"}  # type: ignore[attr-defined]
        self.total = sum(stats.values())
        self.estimate = Estimate(Counter(stats), record.created)
        return f"{self.total} jobs"

    def _start(self, record: logging.LogRecord) -> str:
        job = Job(
            record.rule_name,  # type: ignore[attr-defined]
            record.rule_msg or record.rule_name,  # type: ignore[attr-defined]
            tuple(record.log),  # type: ignore[attr-defined]
            tuple(record.output),  # type: ignore[attr-defined]
            record.created,
        )
        self.jobs[record.jobid] = job  # type: ignore[attr-defined]
        return f"  {job.message}" if self.common_settings.dryrun else ""

    def _finish(self, record: logging.LogRecord) -> str:
        job = self.jobs.pop(record.job_id, None)  # type: ignore[attr-defined]
        if job is None:
            return ""
        self.done += 1  # Snakemake's own count follows as a record of its own
        left = ""
        if self.estimate:
            self.estimate.add(job.rule, record.created - job.started)
            left = self.estimate.left(record.created) if self.done < self.total else ""
        counter = f"[{self.done:>{len(str(self.total))}}/{self.total}]"
        return line(counter, result_of(job), left, shutil.get_terminal_size().columns if self.stream.isatty() else 0)

    def _message(self, record: logging.LogRecord) -> str:
        text = record.getMessage() if record.msg else ""
        if text.startswith(FULL_LOG):
            return f"full log  {os.path.relpath(text.removeprefix(FULL_LOG))}"
        if getattr(record, "exception", "") == "RuleException" and "CalledProcessError" in text:
            return ""  # the error record of the job reports it with the log
        closing = getattr(record, "closing", False)
        shown = record.levelno >= logging.WARNING or closing or "Nothing to be done" in text
        if not shown or text in self.shown:
            return ""
        self.shown.add(text)
        return text


def result_of(job: Job) -> str:
    """The last line of the job's log, or the job's message if that line is empty or only names an output file."""
    for path in job.log:
        try:
            lines = [text.strip() for text in Path(path).read_text(encoding="utf-8", errors="replace").splitlines()]
        except OSError:
            continue
        last = next((text for text in reversed(lines) if text), "")
        if last and last not in job.output:
            return last
    return job.message


def failure(record: logging.LogRecord) -> str:
    """What failed, the end of its log, and the command that repeats it."""
    name = getattr(record, "rule_name", None) or f"group {getattr(record, 'groupid', '')}"
    parts = [f"FAILED  {name}: {', '.join(getattr(record, 'output', ()) or ())}"]
    for path in getattr(record, "log", ()) or ():
        try:
            lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError:
            parts.append(f"  log: {path} (not written)")
            continue
        parts.append(f"  log: {path}" + (f", the last {LOG_LINES} lines:" if len(lines) > LOG_LINES else ":"))
        parts += [f"    {text}" for text in lines[-LOG_LINES:]]
    command = getattr(record, "shellcmd", None)
    if command:
        parts += ["  shell:", f"    {re.sub(r' +', ' ', command.strip())}"]
    return "\n".join(parts)


def line(counter: str, text: str, left: str, columns: int) -> str:
    """``[ 12/115] text …   3 min left``, cut to the width of the terminal; not cut if ``columns`` is 0."""
    if not columns:
        return f"{counter} {text}" + (f" ({left})" if left else "")
    room = columns - len(counter) - 1 - (len(left) + 2 if left else 0)
    text = text if len(text) <= room else text[: room - 1] + "…"
    return f"{counter} {text:<{room}}  {left}" if left else f"{counter} {text}"


def duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
