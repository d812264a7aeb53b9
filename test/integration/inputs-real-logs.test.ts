import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunRecord } from '../../src/core/run-record.js';
import { readRuns } from '../../src/inputs/run-files.js';

const data = process.env.SLUICE_TEST_DATA ?? resolve(import.meta.dirname, '../../../shared/data');
const present = existsSync(data);
const title = present
  ? 'real logs'
  : `real logs (SKIPPED: no folder ${data}; set SLUICE_TEST_DATA to run these tests)`;

async function runs(name: string): Promise<RunRecord[]> {
  const found: RunRecord[] = [];
  for await (const item of readRuns([join(data, name)])) {
    if ('problem' in item) throw new Error(item.problem.message);
    found.push(item.run);
  }
  return found;
}

function commands(all: RunRecord[]): string[] {
  return all.flatMap((run) => run.tasks?.flatMap((task) => task.commands ?? []) ?? []);
}

describe.skipIf(!present)(title, () => {
  it('InterCode, multi-turn: 60 runs, 401 commands, 25 successes, 49 runs that used find', async () => {
    const all = await runs('intercode/ic_bash_multiturn_gpt-4_10_turns_fs_1.json');
    expect(all).toHaveLength(60);
    expect(commands(all)).toHaveLength(401);
    expect(all.filter((run) => run.job?.resolution_status === 'success')).toHaveLength(25);
    expect(all.filter((run) => /\bfind\b/i.test(run.tasks?.[0]?.commands?.join('\n') ?? ''))).toHaveLength(
      49,
    );
    expect(all[59]?.id).toBe('ic_bash_multiturn_gpt-4_10_turns_fs_1/59');
  });

  it('InterCode, ReAct: thoughts are messages, and no command is wrapped whole or a submit', async () => {
    const all = await runs('intercode/ic_bash_react_10_turns_fs_1.json');
    expect(all).toHaveLength(60);
    expect(commands(all)).toHaveLength(231);
    expect(
      commands(all).filter((command) => command === 'submit' || /^execute\[.*\]$/.test(command)),
    ).toEqual([]);
    expect(all[0]?.tasks?.[0]?.messages?.length).toBe(6);
  });

  it('SWE-agent: eleven commands, some of several lines, and no status', async () => {
    const [run] = await runs('swe-agent/marshmallow-1867.function_calling.traj');
    expect(run?.tasks?.[0]?.commands).toHaveLength(11);
    expect(run?.tasks?.[0]?.commands?.filter((command) => command.includes('\n'))).toHaveLength(3);
    expect(run?.tasks?.[0]?.description).toContain('TimeDelta serialization precision');
    expect(run?.job?.resolution_status).toBeUndefined();
  });

  it('mini-swe-agent: two commands, the first with its exit code', async () => {
    const [run] = await runs('swe-agent/mini-local.traj.json');
    expect(run?.tasks?.[0]?.commands).toEqual([
      "echo 'hello world'",
      'echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT',
    ]);
    expect(run?.tasks?.[0]?.exit_codes).toEqual([0, null]);
  });
});
