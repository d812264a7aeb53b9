import { describe, expect, it } from 'vitest';
import { sinkFactsOf, sourceFactsOf } from '../../../src/cli/endpoint-facts.js';
import { sinkObjectOf, sourceObjectOf } from '../../../src/core/endpoints.js';
import { sinksCheck } from '../../../src/doctor/checks/sinks.js';
import { sourcesCheck } from '../../../src/doctor/checks/sources.js';

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

  it('opens a sink to hear whether its secret is one', async () => {
    process.env.SLUICE_TEST_RUBBISH = 'notasecret';
    const options = { secrets: [{ env: 'SLUICE_TEST_RUBBISH' }] };
    const found = await looked([{ ...sinkObjectOf('webhook=https://example.com/hook'), options }]);
    delete process.env.SLUICE_TEST_RUBBISH;
    expect(found).toEqual([
      expect.objectContaining({ status: 'fail', found: expect.stringContaining('whsec_') }),
    ]);
    expect(found[0]?.found).not.toContain('notasecret');
  });
});

describe('the look at sources', () => {
  it('says of each what is wrong with it', async () => {
    const sources = [
      sourceObjectOf('nats=nats://127.0.0.1:4222'),
      { ...sourceObjectOf('nats=nats://127.0.0.1:4222#x'), options: { creat: true } },
      sourceObjectOf('nats=nats://127.0.0.1:4222#commands'),
    ];
    const found = await sourcesCheck.run({ dir: '.', env: {}, sources: () => sourceFactsOf(sources) });
    expect(found.map(({ status }) => status)).toEqual(['fail', 'fail', 'ok']);
    expect(found[1]?.found).toContain('did you mean "create"?');
  });
});
