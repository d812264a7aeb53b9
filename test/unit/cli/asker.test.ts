import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import { actorOf } from '../../../src/cli/asker.js';
import { ProblemList } from '../../../src/cli/options.js';

function ask(option: string | undefined, env: NodeJS.ProcessEnv = {}) {
  const problems = new ProblemList();
  const actor = actorOf(option, env, problems);
  return { actor, problems: problems.problems };
}

describe('who asks', () => {
  it('is the option, then the environment, then the user', () => {
    expect(ask('ci', { SLUICE_ACTOR: 'agent' })).toEqual({ actor: 'ci', problems: [] });
    expect(ask(undefined, { SLUICE_ACTOR: 'agent' })).toEqual({ actor: 'agent', problems: [] });
    expect(ask(undefined, { SLUICE_ACTOR: '' })).toEqual({ actor: userInfo().username, problems: [] });
  });

  it.each(['', '  ', 'a\nb', 'x'.repeat(257)])('is not %j', (actor) => {
    expect(ask(actor).problems).toMatchObject([{ code: 'BAD_ACTOR', path: '--actor' }]);
  });

  it('is named by the place where it was given', () => {
    expect(ask(undefined, { SLUICE_ACTOR: 'a\u0007' }).problems).toMatchObject([{ path: 'SLUICE_ACTOR' }]);
  });
});
