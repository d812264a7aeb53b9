import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPageWriter } from '../../../src/metrics/page.js';
import { Recorder } from '../../../src/metrics/recorder.js';
import { type Distribution, MOST_SERIES } from '../../../src/metrics/series.js';
import { CHECK_KINDS, type CheckSample } from '../../../src/ports/meter.js';

const sample: fc.Arbitrary<CheckSample> = fc.record({
  validator: fc.constantFrom('pattern_match', 'task_count', 'command'),
  kind: fc.constantFrom(...CHECK_KINDS),
  outcome: fc.constantFrom('pass', 'fail', 'error'),
  ms: fc.double({ min: 0, max: 400_000, noNaN: true }),
});

function seriesOf(recorder: Recorder, name: string): Map<string, number | Distribution> {
  const found = recorder.written().find(({ family }) => family.name === name);
  return new Map((found?.series ?? []).map(([labels, value]) => [labels.join('|'), value]));
}

/** What both count, without differences of adding numbers in another order. */
const shown = (recorder: Recorder) =>
  recorder
    .written()
    .map(({ family, series }) => [
      family.name,
      [...series]
        .map(([labels, value]) => [
          labels.join('|'),
          typeof value === 'number' ? value : [value.counts, value.sum.toFixed(6)],
        ])
        .sort(),
    ]);

describe('a recorder', () => {
  it('counts each check once by its outcome, and each of its times in one bucket', () => {
    fc.assert(
      fc.property(fc.array(fc.array(sample)), (packs) => {
        const recorder = new Recorder();
        for (const pack of packs) recorder.checks(pack);
        const all = packs.flat();
        const counts = seriesOf(recorder, 'sluice_checks_total');
        for (const outcome of ['pass', 'fail', 'error'])
          expect(counts.get(`${outcome}|command`) ?? 0).toBe(
            all.filter((each) => each.outcome === outcome && each.validator === 'command').length,
          );
        const times = [...seriesOf(recorder, 'sluice_check_duration_seconds').values()] as Distribution[];
        const inBuckets = times.flatMap(({ counts: each }) => each).reduce((sum, count) => sum + count, 0);
        expect(inBuckets).toBe(all.length);
      }),
    );
  });

  it('adds up to the same, whether one process counts or several tell one another', () => {
    const split = fc.array(fc.tuple(fc.boolean(), fc.boolean(), fc.array(sample)));
    fc.assert(
      fc.property(split, (packs) => {
        const [alone, parent, child] = [new Recorder(), new Recorder(), new Recorder()];
        for (const [isOfChild, tells, pack] of packs) {
          alone.checks(pack);
          (isOfChild ? child : parent).checks(pack);
          if (tells) parent.merge(JSON.parse(JSON.stringify(child.take())));
        }
        parent.merge(child.take());
        expect(shown(parent)).toEqual(shown(alone));
      }),
    );
  });

  it('takes nothing from another process that is no count, and never throws', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.anything(),
          fc.record({ checks: fc.dictionary(fc.string(), fc.anything()), checkSeconds: fc.anything() }),
        ),
        (told) => {
          const recorder = new Recorder();
          recorder.merge(told);
          for (const { series } of recorder.written())
            for (const [, value] of series)
              if (typeof value === 'number') expect(value).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });

  it('keeps the number of its series bounded, whatever names come', () => {
    const recorder = new Recorder();
    for (let n = 0; n < MOST_SERIES * 2; n++) {
      recorder.deliveries({ name: `sink-${n}`, kind: 'webhook' }, { delivered: 1, retried: 0, dead: 0 });
      recorder.pack(`queue-${n}`, 'done', 0.1, 1);
    }
    const sinks = seriesOf(recorder, 'sluice_deliveries_total');
    expect(sinks.size).toBe(MOST_SERIES + 1);
    expect(sinks.get('other|other|other')).toBe(MOST_SERIES);
    expect(seriesOf(recorder, 'sluice_pack_duration_seconds').size).toBe(MOST_SERIES + 1);
  });

  it('says what it is, which does not go from one process to another', () => {
    const parent = new Recorder({ version: '1.2.3', role: 'up' });
    const child = new Recorder({ version: '1.2.3', role: 'worker' });
    child.target(7);
    parent.merge(child.take());
    expect([...seriesOf(parent, 'sluice_build_info').keys()]).toEqual(['1.2.3|up']);
    expect(seriesOf(parent, 'sluice_autoscale_target').size).toBe(0);
  });
});

describe('the page', () => {
  it('has one line a series, with every label quoted, and buckets that add up', async () => {
    const recorder = new Recorder();
    recorder.decide(0.004);
    recorder.decide(0.03);
    recorder.request('getHealth', 204);
    recorder.request(undefined, 404);
    recorder.deliveries({ name: 'a"b\\c\nd', kind: 'webhook' }, { delivered: 2, retried: 1, dead: 0 });
    const { text } = await (await openPageWriter()).write(recorder.written());
    const lines = text.split('\n');
    expect(lines).toContain('sluice_decide_duration_seconds_bucket{le="0.0025"} 0');
    expect(lines).toContain('sluice_decide_duration_seconds_bucket{le="0.005"} 1');
    expect(lines).toContain('sluice_decide_duration_seconds_bucket{le="+Inf"} 2');
    expect(lines).toContain('sluice_decide_duration_seconds_count 2');
    expect(lines).toContain('sluice_http_requests_total{operation="getHealth",status_class="2xx"} 1');
    expect(lines).toContain('sluice_http_requests_total{operation="other",status_class="4xx"} 1');
    expect(lines).toContain(
      'sluice_deliveries_total{sink="a\\"b\\\\c\\nd",kind="webhook",result="delivered"} 2',
    );
    expect(text).not.toContain('sluice_retries_total');
  });
});
