import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { loadScenario } from '../../../../src/core/scenario/load.js';
import { scenarioJsonSchema } from '../../../../src/core/scenario/schema.js';

const accepts = new Ajv2020({ allErrors: true, strict: true, strictRequired: false }).compile(
  scenarioJsonSchema(),
);
const MATCH = { label: 'l', validator: 'pattern_match', pattern: 'x', where: 'executed_commands' };
const COUNT = { label: 'l', validator: 'task_count', min: 1 };
const STATUS = { label: 'l', validator: 'job_resolution_status', pattern: 'success' };
const TICKET = { label: 'l', validator: 'ticket_status', pattern: 'resolved' };
const PLAYBOOK = { label: 'l', validator: 'ansible', ansiblePath: 'validate.yml' };

function loads(document: unknown): boolean {
  return loadScenario({ file: 's', text: JSON.stringify(document), defaultKey: 'k' }).ok;
}

describe('scenarioJsonSchema', () => {
  it.each<[string, unknown]>([
    [
      'every validator',
      { validation: { gateway: [TICKET], job: [STATUS, COUNT], tasks: [MATCH, PLAYBOOK] } },
    ],
    ['other top-level keys', { key: 'k', title: 't', tags: [1], agents: {}, validation: {} }],
    ['x- keys', { validation: { 'x-a': 1, job: [{ ...COUNT, 'x-b': null }] } }],
    ['statuses in any case', { validation: { job: [{ ...STATUS, pattern: ' NO_tasks_created ' }] } }],
    ['extra variables', { validation: { job: [{ ...PLAYBOOK, extra_vars: { a: [1, { b: null }] } }] } }],
  ])('accepts what the loader accepts: %s', (_, document) => {
    expect(loads(document)).toBe(true);
    expect(accepts(document), JSON.stringify(accepts.errors)).toBe(true);
  });

  it.each<[string, unknown]>([
    ['no validation', {}],
    ['an unknown scope', { validation: { task: [] } }],
    ['an unknown key', { validation: { job: [{ ...COUNT, extra: 1 }] } }],
    ['an unknown validator', { validation: { job: [{ ...COUNT, validator: 'x' }] } }],
    ['a validator outside its scope', { validation: { tasks: [TICKET] } }],
    ['where outside its scope', { validation: { tasks: [{ ...MATCH, where: 'job_plan' }] } }],
    ['where outside every scope', { validation: { tasks: [{ ...MATCH, where: 'x' }] } }],
    ['no label', { validation: { job: [{ validator: 'task_count', min: 1 }] } }],
    ['a blank label', { validation: { job: [{ ...COUNT, label: ' ' }] } }],
    ['no bound', { validation: { job: [{ label: 'l', validator: 'task_count' }] } }],
    ['a negative bound', { validation: { job: [{ ...COUNT, min: -1 }] } }],
    ['a sixth status', { validation: { job: [{ ...STATUS, pattern: 'done' }] } }],
    ['an absolute playbook', { validation: { job: [{ ...PLAYBOOK, ansiblePath: '/x' }] } }],
    ['a wrong type', { validation: { job: [{ ...COUNT, required: 'yes' }] } }],
    ['a bad key', { key: 'a/b', validation: {} }],
  ])('refuses what the loader refuses: %s', (_, document) => {
    expect(loads(document)).toBe(false);
    expect(accepts(document)).toBe(false);
  });

  it('describes every field and shows the defaults', () => {
    const text = JSON.stringify(scenarioJsonSchema());
    expect(text).toContain('"default":true');
    expect(text).toContain('https://json-schema.org/draft/2020-12/schema');
    const validation = JSON.parse(text).properties.validation;
    for (const scope of ['gateway', 'job', 'tasks']) {
      for (const rule of validation.properties[scope].items.oneOf) {
        for (const field of Object.values<{ description?: string }>(rule.properties)) {
          expect(field.description).toMatch(/\S/);
        }
      }
    }
  });
});
