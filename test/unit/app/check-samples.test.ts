import { describe, expect, it } from 'vitest';
import { samplesOfPlan } from '../../../src/app/check-samples.js';
import type { PlanCheck } from '../../../src/core/plan/model.js';
import type { CallableDocument, ResolvedTool } from '../../../src/core/registry/model.js';
import type { CheckResult } from '../../../src/core/result.js';

const HOSTILE = 'local/evil"}\n1';

const toolOf = (document: Partial<CallableDocument>): ResolvedTool => ({
  chain: [
    { name: HOSTILE, source: 'wrapped' },
    { name: HOSTILE, ...document },
  ] as CallableDocument[],
});

const result = { outcome: 'fail', duration_ms: 12 } as CheckResult;

describe('what a check of a plan is counted as', () => {
  it.each([
    [{ source: 'command' }, 'command', 'command'],
    [{ source: 'mcp', mcp_server: HOSTILE }, 'mcp', 'mcp'],
    [{ source: 'code' }, 'code', 'code'],
    [{ source: 'graph' }, 'graph', 'graph'],
    [{ source: 'builtin', validator: 'pattern_match' }, 'pattern_match', 'pure'],
    [{ source: 'builtin', validator: 'ansible' }, 'ansible', 'ansible'],
    [{ source: 'builtin', validator: `plugin/${HOSTILE}` }, 'plugin', 'plugin'],
    [{ source: 'builtin', validator: HOSTILE }, 'plugin', 'pure'],
  ] as const)(
    'of the innermost tool %j is %s, run as %s: never a name that somebody chose',
    (document, validator, kind) => {
      const check = { validation: HOSTILE, version: 'v' } as PlanCheck;
      const tools = new Map([['v', toolOf(document as Partial<CallableDocument>)]]);
      expect(samplesOfPlan([check], [result], tools)).toEqual([{ validator, kind, outcome: 'fail', ms: 12 }]);
    },
  );

  it('is nothing for a check that was not run here, and "other" for one whose tool is gone', () => {
    const checks = [{ version: 'gone' }, { version: 'gone' }] as PlanCheck[];
    expect(samplesOfPlan(checks, [undefined, result], new Map())).toEqual([
      { validator: 'other', kind: 'pure', outcome: 'fail', ms: 12 },
    ]);
  });
});
