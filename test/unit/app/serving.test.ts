import { describe, expect, it } from 'vitest';
import { noRunner } from '../../../src/app/serving.js';

const DOCTOR = 'sluice doctor says what this machine lacks';
const TROUBLE = 'bwrap is not in PATH';

describe('the failure of a check that nobody runs', () => {
  it.each<[string, string[], Record<string, string>, string]>([
    [
      'a runner of the machine',
      ['command'],
      {},
      `command (this worker has no runner for command); ${DOCTOR}`,
    ],
    ['one with a known reason', ['ansible'], { ansible: 'no.' }, `ansible (no); ${DOCTOR}`],
    [
      'an MCP server that the settings do not name',
      ['mcp:scan'],
      {},
      'mcp:scan (no MCP server scan is configured here); name scan under mcp_servers in the settings of the workers',
    ],
    ['an MCP server that cannot be held', ['mcp:s'], { 'mcp:s': TROUBLE }, `mcp:s (${TROUBLE}); ${DOCTOR}`],
    [
      'a plugin that no module brings',
      ['plugin:lint'],
      {},
      'plugin:lint (no plugin lint is loaded here); name the module of plugin lint under plugins in the settings of the workers',
    ],
    [
      'a plugin that cannot be held',
      ['plugin:lint'],
      { plugin: TROUBLE },
      `plugin:lint (${TROUBLE}); ${DOCTOR}`,
    ],
    [
      'some of both kinds',
      ['command', 'mcp:scan'],
      {},
      `command (this worker has no runner for command), mcp:scan (no MCP server scan is configured here); ${DOCTOR}, and name scan under mcp_servers in the settings of the workers`,
    ],
  ])('says of %s what to do', (_name, lacking, missing, said) => {
    const failure = noRunner('local/x', lacking, { serves: ['pure'], unserved: 'error', missing });
    expect(failure).toEqual({
      kind: 'failure',
      reason: 'no_runner',
      message: `local/x was not run: it needs ${said}`,
    });
  });
});
