"""Celery's side of the bench: a chord of ten tasks a run, each of which gets the text by reference.

Worker:   celery -A celery_peer worker
Producer: python3 celery_peer.py, which reads one JSON object a line and answers with one.
"""

import json
import os
import re
import sys
import time

import redis
from celery import Celery, chord

URL = os.environ["BENCH_REDIS"]
RULES = json.loads(os.environ["BENCH_RULES"])
IN_FLIGHT = 50

app = Celery("celery_peer", broker=URL, backend=URL)
app.conf.update(
    task_serializer="json",
    result_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=16,
    worker_hijack_root_logger=False,
    task_ignore_result=False,
    result_expires=600,
    redis_max_connections=None,
)
texts = redis.Redis.from_url(URL)
compiled = [re.compile(rule["pattern"], re.IGNORECASE | re.MULTILINE) for rule in RULES]


@app.task(name="check")
def check(key, rule):
    text = texts.get(key).decode()
    return (compiled[rule].search(text) is not None) != RULES[rule]["negate"]


@app.task(name="gate")
def gate(verdicts, done, run):
    passed = sum(1 for verdict in verdicts if verdict)
    texts.rpush(done, json.dumps({"run": run, "checks": len(verdicts), "passed": passed}))
    return passed


def judge(round_name, runs):
    """Adds a chord for each run, at most IN_FLIGHT ahead of what is through; waits for every gate."""
    done = f"celery:done:{round_name}"
    judged = []
    started = time.perf_counter()
    for n, run in enumerate(runs):
        key = f"celery:text:{round_name}:{run['id']}"
        texts.set(key, run["text"])
        chord((check.s(key, rule) for rule in range(len(RULES))), gate.s(done, run["id"])).apply_async()
        if n - len(judged) >= IN_FLIGHT:
            judged.append(json.loads(texts.blpop(done)[1]))
    while len(judged) < len(runs):
        judged.append(json.loads(texts.blpop(done)[1]))
    return {"ms": 1000 * (time.perf_counter() - started), "judged": judged}


if __name__ == "__main__":
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps(judge(asked["round"], asked["runs"])), flush=True)
