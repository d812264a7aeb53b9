import { describe, expect, it } from 'vitest';
import { sinkFactsOf } from '../../../src/cli/sink-facts.js';
import { sinkObjectOf } from '../../../src/core/endpoints.js';
import { sinksCheck } from '../../../src/doctor/checks/sinks.js';

const looked = (sinks: Parameters<typeof sinkFactsOf>[0]) =>
  sinksCheck.run({ dir: '.', env: {}, sinks: () => sinkFactsOf(sinks) });

describe('the look at sinks', () => {
  it('finds nothing where there are none', async () => {
    expect(await sinksCheck.run({ dir: '.', env: {} })).toEqual([]);
  });

  it('is content with a sink that can be used, and shows no credentials', async () => {
    expect(await looked([sinkObjectOf('redis-stream=redis://u:hunter2@h:1#k')])).toEqual([
      expect.objectContaining({
        status: 'ok',
        found: 'the sink redis-stream=redis://***@h:1#k can be used as it is set',
      }),
    ]);
  });

  it('says of each what is wrong with it', async () => {
    const login = { user: 'u', password: { env: 'SLUICE_NO_SUCH_VARIABLE' } };
    const tls = { ca: '/no/such/file.pem' };
    const found = await looked([
      sinkObjectOf('ndjso=x'),
      { ...sinkObjectOf('redis-stream=rediss://h:1#k'), options: { ...login, tls } },
      { ...sinkObjectOf('stdout=-'), types: ['plan.faild'], projection: '(' },
    ]);
    expect(found.map(({ status, found: words }) => [status, words])).toEqual([
      ['fail', expect.stringMatching(/^the sink ndjso=x cannot be used: sinks\[0\]: unknown kind "ndjso"/)],
      ['warn', expect.stringContaining('SLUICE_NO_SUCH_VARIABLE')],
      ['warn', expect.stringContaining('/no/such/file.pem')],
      ['fail', expect.stringContaining('did you mean "plan.failed"?')],
      ['fail', expect.stringContaining('sinks[2].projection')],
    ]);
  });
});
