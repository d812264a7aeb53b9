import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { attachmentIdentity } from '../../../../src/core/attachments/identity.js';
import { explainResource, resolveAttachments, type Where } from '../../../../src/core/attachments/resolve.js';
import type { Attachment } from '../../../../src/core/registry/model.js';
import { attachment, ids, inPlan, inProject, registryOf, validation } from './build.js';

const RESOURCES = ['repo/api', 'db/orders', 'web'];
const documents = [validation('lint'), validation('style', { mode: 'informational' })];
const registry = registryOf(documents);

const scope = fc.oneof(
  fc.constant({}),
  fc.constantFrom('web', 'shop').map(inProject),
  fc.constantFrom('p1', 'p2').map(inPlan),
);
/** Ids are unlike the order of the list, as after a restore. Values collide often. */
const attachments: fc.Arbitrary<Attachment[]> = fc
  .uniqueArray(fc.integer({ min: 100, max: 999 }), { maxLength: 14 })
  .chain((numbers) =>
    fc.tuple(
      ...numbers.map((n) =>
        fc
          .record({
            resource: fc.constantFrom(...RESOURCES),
            validation: fc.constantFrom('local/lint', 'local/style'),
            arguments: fc.constantFrom({}, { a: 1, b: 2 }, { b: 2, a: 1 }),
            slot: fc.constantFrom(null, null, 'copy'),
            scope,
          })
          .map(({ scope: where, ...more }) => attachment(String(n), { ...more, ...where })),
      ),
    ),
  );
const where: fc.Arbitrary<Where> = fc.record({
  resources: fc.subarray(RESOURCES),
  project: fc.constantFrom(null, 'web', 'shop'),
  plan: fc.constantFrom(null, 'p1', 'p2'),
});

const resolve = (all: Attachment[], place: Where) =>
  resolveAttachments({ ...registry, attachments: all }, place);
const identities = (all: readonly Attachment[]) => new Set(all.map(attachmentIdentity));
const LEVELS = ['direct', 'project', 'plan'];

/** Written anew, so that it does not share a mistake with the rule. */
function reaches(each: Attachment, { resources, project, plan }: Where): boolean {
  if (!resources.includes(each.resource)) return false;
  return (
    each.scope === 'direct' ||
    (each.scope === 'project' ? each.target === project : each.scope === 'plan' && each.target === plan)
  );
}

function always(check: (all: Attachment[], place: Where) => void): void {
  fc.assert(fc.property(attachments, where, check), { numRuns: 150 });
}

describe('what applies', () => {
  it('is the union: every question that is asked in some scope, each once', () => {
    always((all, place) => {
      const found = resolve(all, place);
      expect(identities(found)).toEqual(identities(all.filter((each) => reaches(each, place))));
      expect(identities(found).size).toBe(found.length);
    });
  });

  it('is the most specific of those that ask the same, and of these the oldest', () => {
    always((all, place) => {
      for (const winner of resolve(all, place)) {
        expect(reaches(winner, place)).toBe(true);
        const same = all.filter(
          (each) => reaches(each, place) && attachmentIdentity(each) === attachmentIdentity(winner),
        );
        const level = Math.max(...same.map((each) => LEVELS.indexOf(each.scope)));
        const oldest = ids(same.filter((each) => LEVELS.indexOf(each.scope) === level)).sort()[0];
        expect(winner.id).toBe(oldest);
      }
    });
  });

  it('does not depend on the order of attachments or resources', () => {
    const shuffled = attachments.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, where, ([all, mixed], place) => {
        const reversed = { ...place, resources: place.resources.toReversed() };
        expect(resolve(mixed, reversed)).toEqual(resolve(all, place));
      }),
    );
  });

  it('is what explain says applies; the others are out of scope or shadowed by one that applies', () => {
    always((all, place) => {
      for (const resource of RESOURCES) {
        const explained = explainResource(
          { ...registry, attachments: all },
          resource,
          place.project,
          place.plan,
        );
        const here = { ...place, resources: [resource] };
        const applying = explained.filter(({ applies }) => applies).map((each) => each.attachment);
        expect(applying).toEqual(resolve(all, here));
        expect(ids(explained.map((each) => each.attachment)).sort()).toEqual(
          ids(all.filter((each) => each.resource === resource)).sort(),
        );
        for (const { attachment: each, applies, shadowedBy } of explained) {
          expect(shadowedBy !== null).toBe(!applies && reaches(each, here));
          if (shadowedBy === null) continue;
          const winner = applying.find(({ id }) => id === shadowedBy);
          expect(winner && attachmentIdentity(winner)).toBe(attachmentIdentity(each));
        }
      }
    });
  });

  it('is resource by resource what applies to each alone', () => {
    always((all, place) => {
      const alone = place.resources
        .toSorted()
        .flatMap((resource) => resolve(all, { ...place, resources: [resource] }));
      expect(alone).toEqual(resolve(all, place));
    });
  });

  it('only grows when a project or a plan is named, so that naming one opens no gate', () => {
    always((all, place) => {
      const wider = identities(resolve(all, place));
      for (const narrow of [
        { ...place, project: null },
        { ...place, plan: null },
      ]) {
        for (const identity of identities(resolve(all, narrow))) expect(wider).toContain(identity);
      }
    });
  });

  it('is its own resolution', () => {
    always((all, place) => {
      const found = resolve(all, place);
      expect(resolve(found, place)).toEqual(found);
    });
  });
});

describe('detaching one', () => {
  const withOne = attachments
    .filter((all) => all.length > 0)
    .chain((all) => fc.tuple(fc.constant(all), fc.constantFrom(...all)));

  it('changes nothing about any other question', () => {
    fc.assert(
      fc.property(withOne, where, ([all, gone], place) => {
        const others = (list: Attachment[]) =>
          list.filter((each) => attachmentIdentity(each) !== attachmentIdentity(gone));
        const left = all.filter((each) => each !== gone);
        expect(others(resolve(left, place))).toEqual(others(resolve(all, place)));
      }),
    );
  });

  it('never brings up a question that was not asked, and drops its own only when it was the last to ask it', () => {
    fc.assert(
      fc.property(withOne, where, ([all, gone], place) => {
        const before = identities(resolve(all, place));
        const left = all.filter((each) => each !== gone);
        const after = identities(resolve(left, place));
        for (const identity of after) expect(before).toContain(identity);
        const asked = left.some(
          (each) => reaches(each, place) && attachmentIdentity(each) === attachmentIdentity(gone),
        );
        expect(after.has(attachmentIdentity(gone))).toBe(asked);
      }),
    );
  });

  it('changes nothing at all when it was shadowed or out of scope', () => {
    fc.assert(
      fc.property(withOne, where, ([all, gone], place) => {
        const before = resolve(all, place);
        if (before.includes(gone)) return;
        expect(
          resolve(
            all.filter((each) => each !== gone),
            place,
          ),
        ).toEqual(before);
      }),
    );
  });
});
