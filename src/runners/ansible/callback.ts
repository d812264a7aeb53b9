/** Name of the callback plugin, as Ansible's settings know it. */
export const CALLBACK_NAME = 'sluice_report';

/** Where files of ours lie in the run's folder. */
export const OURS = '.sluice';

/**
 * A callback plugin for ansible-core 2.14 and newer: at a playbook's end it writes one line of JSON to
 * standard error (`readReport`). The word that marks the line comes through standard input and is read
 * before any task runs; the process is not dumpable, so that tasks, which run under the same user, can
 * neither look for it in memory nor write to its streams. The file behind standard input, as the files of
 * the run, stays readable in the sandbox: who writes the playbook can find the word and the vault's password.
 */
export const CALLBACK = String.raw`"""Tells Sluice what a playbook did."""
import collections
import ctypes
import json
import os
import re
import sys

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: sluice_report
type: notification
short_description: tells Sluice what a playbook did
description: one line of JSON on standard error
"""

NOT_DUMPABLE = 4
COUNTS = ("ok", "changed", "unreachable", "skipped", "rescued", "ignored")
BAD, OTHERS, ALIKE, SKIPPED, HOSTS = 100, 400, 40, 100, 200
RUNS_MODULE, RUNS_ITSELF = ("command", "shell"), ("raw", "script")
NOT_STARTED = (126, 127)
NO_PRIVILEGES = ("sudo:", "su:", "doas:")


def cut(text, most):
    clean = "".join(c if c == "\n" or c.isprintable() else " " for c in str(text)[:most])
    return clean.encode("utf-8", "replace").decode("utf-8")


def counts_of(summary):
    counts = {key: summary.get(key, 0) for key in COUNTS}
    return {**counts, "failed": summary.get("failures", 0)}


def ended(name, said):
    """Whether a program ran to its end: a shell that cannot start one says so, and a module tells no times."""
    rc, errors = said.get("rc"), str(said.get("stderr") or "")
    if not isinstance(rc, int) or (rc in NOT_STARTED and errors):
        return False
    return bool(said.get("delta")) if name in RUNS_MODULE else not errors.startswith(NO_PRIVILEGES)


def cause_of(action, said):
    """How a failure came about; None where nothing shows that the task ran."""
    name = re.sub(r"^ansible\.(builtin|legacy)\.", "", action)
    verdicts = [said[key] for key in ("failed_when_result", "changed_when_result") if key in said]
    if "module_stderr" in said or "module_stdout" in said:
        return "crashed"
    # A condition that could not be evaluated leaves its error in place of its result.
    if not all(isinstance(each, bool) for each in verdicts):
        return None
    if any(key in said for key in ("failed_modules", "async_result", "censored")):
        return None
    if "evaluated_to" in said:
        return "judged"
    if name in RUNS_MODULE + RUNS_ITSELF:
        return "judged" if ended(name, said) else None
    # Of a task that raised an error before its action ran there is no "changed".
    if name == "fail" and "changed" in said:
        return "answered" if "exception" in said else "judged"
    return "answered" if verdicts or "invocation" in said or "attempts" in said else None


class CallbackModule(CallbackBase):
    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "notification"
    CALLBACK_NAME = "sluice_report"
    CALLBACK_NEEDS_ENABLED = True

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.word = os.read(0, 64).decode().strip()
        prctl = getattr(ctypes.CDLL(None), "prctl", None)
        if prctl:
            prctl(NOT_DUMPABLE, 0, 0, 0, 0)
        if os.path.exists(".sluice/vault"):
            os.remove(".sluice/vault")
        self.play = ""
        self.names = {}
        self.unmatched = False
        self.seen = 0
        self.alike = collections.Counter()
        self.bad = collections.deque(maxlen=BAD)
        self.others = []
        self.skipped = []

    def v2_playbook_on_play_start(self, play):
        self.play = play.get_name()

    def v2_playbook_on_task_start(self, task, is_conditional):
        # Templates in a name are filled in now, and at no other time.
        self.names[task._uuid] = task.get_name()

    def v2_playbook_on_handler_task_start(self, task):
        self.names[task._uuid] = task.get_name()

    def v2_playbook_on_no_hosts_matched(self):
        self.unmatched = True

    def v2_runner_on_ok(self, result):
        self.keep(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_skipped(self, result):
        self.keep(result, "skipped")

    def v2_runner_on_unreachable(self, result):
        self.keep(result, "unreachable")

    def v2_runner_on_failed(self, result, ignore_errors=False):
        self.keep(result, "ignored" if ignore_errors else "failed")

    def keep(self, result, status):
        said = result._result
        items = [i for i in said.get("results") or () if isinstance(i, dict) and i.get("failed")]
        for each in (items[-20:] if status == "failed" else None) or [said]:
            self.seen += 1
            entry = self.entry(result, status, each)
            alike = (status, entry["action"])
            self.alike[alike] += 1
            if status in ("failed", "unreachable"):
                self.bad.append((self.seen, entry))
            elif status == "skipped":
                if len(self.skipped) < SKIPPED:
                    self.skipped.append((self.seen, entry))
            elif self.alike[alike] <= ALIKE and len(self.others) < OTHERS:
                self.others.append((self.seen, entry))

    def entry(self, result, status, said):
        task = result._task
        message = said.get("msg") or said.get("reason") or said.get("message") or said.get("censored") or ""
        if not isinstance(message, str):
            message = json.dumps(message, default=str)
        action = str(getattr(task, "resolved_action", None) or task.action)
        cause = cause_of(action, said) if status == "failed" else None
        if cause == "crashed":
            message += "\n" + str(said.get("module_stderr") or said.get("module_stdout"))
        return {
            "host": cut(result._host.get_name(), 256),
            "play": cut(self.play, 200),
            "task": cut(self.names.get(task._uuid) or result.task_name, 200),
            "action": cut(action, 200),
            "status": status,
            "message": cut(message, 3000 if status in ("failed", "unreachable") else 400),
            **({"cause": cause} if cause else {}),
            **({"changed": True} if status == "ignored" and said.get("changed") else {}),
        }

    def v2_playbook_on_stats(self, stats):
        hosts = [(cut(host, 256), counts_of(stats.summarize(host))) for host in sorted(stats.processed)]
        hosts.sort(key=lambda each: not (each[1]["failed"] or each[1]["unreachable"] or each[1]["changed"]))
        tasks = sorted([*self.bad, *self.others, *self.skipped], key=lambda each: each[0])
        report = {
            "hosts": hosts[:HOSTS],
            "hosts_left_out": max(0, len(hosts) - HOSTS),
            "tasks": [entry for _, entry in tasks],
            "tasks_left_out": self.seen - len(tasks),
            "no_hosts_matched": self.unmatched,
        }
        line = "\x1e" + self.word + json.dumps(report, ensure_ascii=False) + "\n"
        sys.stderr.flush()
        data = line.encode("utf-8", "replace")
        while data:
            data = data[os.write(2, data):]
`;
