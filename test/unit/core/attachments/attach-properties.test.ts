import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AttachRequest,
  planAttachment,
  planDetachment,
  planSkillAttachment,
} from '../../../../src/core/attachments/attach.js';
import { attachmentIdentity } from '../../../../src/core/attachments/identity.js';
import { resolveAttachments } from '../../../../src/core/attachments/resolve.js';
import type { Attachment, JsonObject, Registry } from '../../../../src/core/registry/model.js';
import { applied, registryOf, skill, tool, validation } from './build.js';

const start = registryOf([
  tool('count'),
  validation('lint'),
  validation('style', { mode: 'informational' }),
  validation('compare', {
    resource_slots: [
      { name: 'left', type: 'repo', required: false },
      { name: 'right', type: 'repo', required: false },
    ],
  }),
  skill('care', ['lint', 'style', 'count']),
]);

const place = fc.constantFrom<Pick<AttachRequest, 'project' | 'plan'>>(
  {},
  { project: 'web' },
  { plan: 'p1' },
  { project: 'web', plan: 'p1' },
);
const slot = fc.constantFrom<Pick<AttachRequest, 'slot'>>({}, {}, { slot: 'left' }, { slot: 'right' });
const asked = fc
  .record({
    resource: fc.constantFrom('repo/api', 'repo/web', 'db/a', 'no name'),
    arguments: fc.constantFrom<JsonObject>({}, { a: 1, b: [2] }, { b: [2], a: 1 }),
  })
  .chain((base) => fc.tuple(place, slot).map(([where, bound]) => ({ ...base, ...where, ...bound })));
const attach = asked.chain((base) =>
  fc
    .constantFrom('lint', 'local/lint', 'style', 'compare', 'count')
    .map((name) => ({ ...base, validation: name })),
);
const command = fc.oneof(
  { weight: 6, arbitrary: attach.map((request) => ({ type: 'attach' as const, request })) },
  {
    weight: 1,
    arbitrary: asked.map((base) => ({ type: 'skill' as const, request: { ...base, skill: 'care' } })),
  },
  { weight: 2, arbitrary: fc.nat().map((position) => ({ type: 'detach' as const, position })) },
);
type Command = typeof command extends fc.Arbitrary<infer T> ? T : never;

function ulids(): () => string {
  let last = 0;
  return () => `01${String(++last).padStart(24, '0')}`;
}

function step(registry: Registry, given: Command, newId: () => string): Registry {
  if (given.type === 'detach') {
    const all = registry.attachments;
    const answer = planDetachment(registry, all[given.position % (all.length || 1)]?.id ?? 'none');
    return answer.ok ? applied(registry, answer.change) : registry;
  }
  const answer =
    given.type === 'attach'
      ? planAttachment(registry, given.request, newId(), 0, 'tester')
      : planSkillAttachment(registry, given.request, newId, 0, 'tester');
  return answer.ok ? applied(registry, answer.change) : registry;
}

/** What no two attachments may have in common. */
const exactly = (each: Attachment) => `${attachmentIdentity(each)} ${each.scope} ${each.target}`;

describe('whatever is attached and detached', () => {
  it('leaves no two attachments that say the same, and none without its one scope', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 25 }), (commands) => {
        const newId = ulids();
        const { attachments } = commands.reduce((at, each) => step(at, each, newId), start);
        expect(new Set(attachments.map(exactly)).size).toBe(attachments.length);
        expect(new Set(attachments.map(({ id }) => id)).size).toBe(attachments.length);
        for (const each of attachments) expect(each.target === null).toBe(each.scope === 'direct');
      }),
    );
  });

  it('what was just attached is asked wherever its scope reaches, and asking again changes nothing', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 15 }), attach, (commands, request: AttachRequest) => {
        const newId = ulids();
        const before = commands.reduce((at, each) => step(at, each, newId), start);
        const answer = planAttachment(before, request, newId(), 0, 'tester');
        if (!answer.ok) return;
        const after = applied(before, answer.change);
        const where = {
          resources: [request.resource],
          project: request.project ?? null,
          plan: request.plan ?? null,
        };
        const identities = resolveAttachments(after, where).map(attachmentIdentity);
        expect(identities).toContain(attachmentIdentity(answer.attachment));
        const again = planAttachment(after, request, newId(), 1, 'another');
        expect(again).toMatchObject({ ok: true, existing: true, attachment: answer.attachment });
      }),
    );
  });

  it('never touches the registry that it was given', () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 10 }), (commands) => {
        const newId = ulids();
        const before = commands.reduce((at, each) => step(at, each, newId), start);
        const copy = structuredClone(before);
        for (const each of commands) step(before, each, newId);
        expect(before).toEqual(copy);
      }),
      { numRuns: 30 },
    );
  });
});
