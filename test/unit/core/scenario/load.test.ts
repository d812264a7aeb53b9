import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  loadScenario,
  neededFiles,
  parseScenario,
  scenarioDigest,
  scenarioJson,
  sealScenario,
} from '../../../../src/core/scenario/load.js';
import { scenarioWith } from '../build.js';

const MATCH = { label: 'l', validator: 'pattern_match', pattern: 'x', where: 'executed_commands' };
const COUNT = { label: 'l', validator: 'task_count', min: 1 };
const STATUS = { label: 'l', validator: 'job_resolution_status', pattern: 'success' };
const TICKET = { label: 'l', validator: 'ticket_status', pattern: 'resolved' };
const PLAYBOOK = { label: 'l', validator: 'ansible', ansiblePath: 'validate.yml' };

function load(document: unknown) {
  const text = typeof document === 'string' ? document : JSON.stringify(document);
  return loadScenario({ file: 's.json', text, defaultKey: 'folder' });
}

function problemsOf(document: unknown) {
  const loaded = load(document);
  return loaded.ok ? [] : loaded.problems;
}

function loadedOf(document: unknown) {
  const loaded = load(document);
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  return loaded.scenario;
}

describe('loadScenario accepts', () => {
  it('a file with every validator, and fills in the defaults', () => {
    const scenario = loadedOf({
      title: 'Nginx is down',
      ticket_title: 'help',
      tags: ['web'],
      validation: { gateway: [TICKET], job: [STATUS, COUNT], tasks: [{ ...MATCH, negate: true }, PLAYBOOK] },
    });
    expect(scenario.key).toBe('folder');
    expect(scenario.title).toBe('Nginx is down');
    expect(scenario.extra).toEqual({ title: 'Nginx is down', ticket_title: 'help', tags: ['web'] });
    expect(scenario.rules.map(({ scope, index, validator }) => [scope, index, validator])).toEqual([
      ['gateway', 0, 'ticket_status'],
      ['job', 0, 'job_resolution_status'],
      ['job', 1, 'task_count'],
      ['tasks', 0, 'pattern_match'],
      ['tasks', 1, 'ansible'],
    ]);
    expect(scenario.rules[3]).toMatchObject({
      label: 'l',
      required: true,
      negate: true,
      params: { pattern: 'x', where: 'executed_commands' },
    });
  });

  it('puts rules in the order gateway, job, tasks whatever the order of the file', () => {
    const { rules } = loadedOf({ validation: { tasks: [MATCH], job: [COUNT], gateway: [TICKET] } });
    expect(rules.map(({ scope }) => scope)).toEqual(['gateway', 'job', 'tasks']);
  });

  it.each<[string, unknown]>([
    ['a byte order mark', `\ufeff${JSON.stringify({ validation: { job: [COUNT] } })}`],
    ['no rule at all', { validation: {} }],
    ['empty scopes', { validation: { job: [], tasks: [], gateway: [] } }],
    ['x- keys in validation and rules', { validation: { 'x-a': 1, job: [{ ...COUNT, 'x-b': [{}] }] } }],
    ['a status in capitals with blanks', { validation: { job: [{ ...STATUS, pattern: ' Success ' }] } }],
    ['min equal to max', { validation: { job: [{ ...COUNT, max: 1 }] } }],
    ['zero as a bound', { validation: { job: [{ label: 'l', validator: 'task_count', max: 0 }] } }],
    ['ansible in every scope', { validation: { job: [PLAYBOOK], tasks: [PLAYBOOK], gateway: [PLAYBOOK] } }],
    ['a path that stays inside', { validation: { job: [{ ...PLAYBOOK, ansiblePath: './a/../b.yml' }] } }],
  ])('%s', (_, document) => {
    expect(problemsOf(document)).toEqual([]);
  });

  it('takes no_tasks_created as no_action', () => {
    const { rules } = loadedOf({ validation: { job: [{ ...STATUS, pattern: 'no_tasks_created' }] } });
    expect(rules[0]?.params).toEqual({ pattern: 'no_action' });
  });

  it.each([
    ['gateway', 'gateway_messages gateway_summary'],
    [
      'job',
      'job_resolution job_plan operational_rules executed_commands task_summary task_description task_plan agent_messages',
    ],
    ['tasks', 'executed_commands task_summary task_description task_plan agent_messages operational_rules'],
  ])('in scope %s exactly the fields %s', (scope, wheres) => {
    const all =
      'executed_commands task_summary task_description task_plan agent_messages job_resolution job_plan gateway_messages gateway_summary operational_rules';
    const accepted = all
      .split(' ')
      .filter((where) => problemsOf({ validation: { [scope]: [{ ...MATCH, where }] } }).length === 0);
    expect(accepted.sort()).toEqual(wheres.split(' ').sort());
  });
});

describe('loadScenario refuses', () => {
  const inRule = (scope: string, rule: unknown) => ({ validation: { [scope]: [rule] } });
  it.each<[string, unknown, string, RegExp, string?]>([
    ['an unknown scope', { validation: { task: [] } }, 'validation.task', /unknown key/, 'tasks'],
    ['no validation', { validations: {} }, 'validation', /missing/, 'validation'],
    ['a list as validation', { validation: [] }, 'validation', /must be an object/],
    ['an object as scope', { validation: { job: {} } }, 'validation.job', /must be a list/],
    ['null as scope', { validation: { job: null } }, 'validation.job', /must be a list/],
    ['text as rule', inRule('job', 'x'), 'validation.job[0]', /must be an object/],
    [
      'an unknown key in a rule',
      inRule('job', { ...COUNT, requird: true }),
      'validation.job[0].requird',
      /unknown key/,
      'required',
    ],
    [
      'a field of another validator',
      inRule('job', { ...COUNT, pattern: 'x' }),
      'validation.job[0].pattern',
      /unknown key/,
    ],
    [
      'a missing label',
      inRule('job', { validator: 'task_count', min: 1 }),
      'validation.job[0].label',
      /missing/,
    ],
    ['an empty label', inRule('job', { ...COUNT, label: '' }), 'validation.job[0].label', /blank/],
    ['a missing validator', inRule('job', { label: 'l' }), 'validation.job[0].validator', /missing/],
    [
      'an unknown validator',
      inRule('tasks', { ...MATCH, validator: 'patern_match' }),
      'validation.tasks[0].validator',
      /unknown validator/,
      'pattern_match',
    ],
    [
      'a validator named like a built-in of objects',
      inRule('job', { ...COUNT, validator: 'constructor' }),
      'validation.job[0].validator',
      /unknown validator/,
    ],
    [
      'a number as validator',
      inRule('job', { ...COUNT, validator: 4 }),
      'validation.job[0].validator',
      /string/,
    ],
    ['ticket_status in job', inRule('job', TICKET), 'validation.job[0].validator', /only in gateway/],
    ['task_count in tasks', inRule('tasks', COUNT), 'validation.tasks[0].validator', /only in job/],
    [
      'job_resolution_status in gateway',
      inRule('gateway', STATUS),
      'validation.gateway[0].validator',
      /only in job/,
    ],
    [
      'an unknown where',
      inRule('tasks', { ...MATCH, where: 'executed_comands' }),
      'validation.tasks[0].where',
      /allowed/,
      'executed_commands',
    ],
    [
      'where outside its scope',
      inRule('tasks', { ...MATCH, where: 'job_resolution' }),
      'validation.tasks[0].where',
      /only in job/,
    ],
    [
      'a gateway field in job',
      inRule('job', { ...MATCH, where: 'gateway_summary' }),
      'validation.job[0].where',
      /only in gateway/,
      'task_summary',
    ],
    [
      'a missing where',
      inRule('tasks', { ...MATCH, where: undefined }),
      'validation.tasks[0].where',
      /missing/,
    ],
    [
      'a bad pattern',
      inRule('tasks', { ...MATCH, pattern: '(a' }),
      'validation.tasks[0].pattern',
      /not a valid pattern/,
    ],
    [
      'a pattern that RE2 spells otherwise',
      inRule('tasks', { ...MATCH, pattern: 'a\\Z' }),
      'validation.tasks[0].pattern',
      /RE2/,
      '\\z',
    ],
    ['an empty pattern', inRule('tasks', { ...MATCH, pattern: '' }), 'validation.tasks[0].pattern', /empty/],
    [
      'a sixth status',
      inRule('job', { ...STATUS, pattern: 'sucess' }),
      'validation.job[0].pattern',
      /not a resolution status/,
      'success',
    ],
    [
      'a blank ticket status',
      inRule('gateway', { ...TICKET, pattern: ' ' }),
      'validation.gateway[0].pattern',
      /blank/,
    ],
    [
      'task_count without bounds',
      inRule('job', { label: 'l', validator: 'task_count' }),
      'validation.job[0]',
      /min, max or both/,
    ],
    ['min above max', inRule('job', { ...COUNT, min: 3, max: 2 }), 'validation.job[0].min', /more than max/],
    ['a negative bound', inRule('job', { ...COUNT, min: -1 }), 'validation.job[0].min', /at least 0/],
    ['a broken bound', inRule('job', { ...COUNT, min: 1.5 }), 'validation.job[0].min', /whole number/],
    ['null as bound', inRule('job', { ...COUNT, min: null }), 'validation.job[0].min', /number/],
    [
      'text as required',
      inRule('job', { ...COUNT, required: 'true' }),
      'validation.job[0].required',
      /true or false/,
    ],
    [
      'an absolute playbook',
      inRule('job', { ...PLAYBOOK, ansiblePath: '/etc/x.yml' }),
      'validation.job[0].ansiblePath',
      /relative/,
    ],
    [
      'a playbook outside',
      inRule('job', { ...PLAYBOOK, ansiblePath: 'a/../../x.yml' }),
      'validation.job[0].ansiblePath',
      /inside/,
    ],
    [
      'a playbook that reads like an option',
      inRule('job', { ...PLAYBOOK, ansiblePath: './-e' }),
      'validation.job[0].ansiblePath',
      /start/,
    ],
    [
      'NUL in a path',
      inRule('job', { ...PLAYBOOK, inventory: 'a\u0000b' }),
      'validation.job[0].inventory',
      /NUL/,
    ],
    [
      'the folder itself as playbook',
      inRule('job', { ...PLAYBOOK, ansiblePath: './' }),
      'validation.job[0].ansiblePath',
      /folder itself/,
    ],
    [
      'a list as extra_vars',
      inRule('job', { ...PLAYBOOK, extra_vars: [] }),
      'validation.job[0].extra_vars',
      /object/,
    ],
    ['a path as key', { key: '../x', validation: {} }, 'key', /plain name/],
    ['a number as key', { key: 4, validation: {} }, 'key', /string/],
    ['a list as document', [], '', /must be an object/],
    ['an empty file', ' \n', '', /empty/],
  ])('%s', (_, document, path, message, nearest) => {
    const problems = problemsOf(document);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatchObject({ file: 's.json', path, message: expect.stringMatching(message) });
    expect(problems[0]?.nearest).toBe(nearest);
  });

  it('ten mistakes with ten problems', () => {
    const problems = problemsOf({
      key: '',
      validation: {
        jobs: [],
        gateway: [{ ...MATCH, pattern: '(', where: 'job_plan' }],
        job: [{ ...COUNT, label: '', required: 1 }, STATUS, { ...STATUS, pattern: 'x', negat: true }],
        tasks: [{ ...MATCH, validator: 'regex' }, null],
      },
    });
    expect(problems.map(({ path }) => path)).toEqual([
      'key',
      'validation.jobs',
      'validation.gateway[0].pattern',
      'validation.gateway[0].where',
      'validation.job[0].label',
      'validation.job[0].required',
      'validation.job[2].negat',
      'validation.job[2].pattern',
      'validation.tasks[0].validator',
      'validation.tasks[1]',
    ]);
    expect(problems.every(({ file }) => file === 's.json')).toBe(true);
  });

  it.each<[string, number, RegExp]>([
    ['{"validation": {},}', 1, /line 1, column 19/],
    ['{\r\n  "a": 1\r\n  "b": 2\r\n}', 3, /line 3, column 3.*|expected/],
    ['{"a": tru}', 1, /expected a value, found "t" \(line 1, column 7\)/],
    ['{"a": 01}', 1, /column 8/],
    ['{} x', 1, /after the end/],
    ['["a', 1, /never closed \(line 1, column 2\)/],
    ['{"a": "\\q"}', 1, /unknown escape/],
    ['{"a": "\t"}', 1, /control character/],
    ['{\n', 2, /end of the file/],
  ])('broken JSON %j with its place', (text, line, message) => {
    expect(problemsOf(text)).toEqual([
      { file: 's.json', line, path: '', message: expect.stringMatching(message) },
    ]);
  });

  it('keys given twice and __proto__, wherever they are', () => {
    const text =
      '{"validation":{"job":[{"label":"a",\n"label":"b","validator":"task_count","min":1}]},"tags":{"__proto__":1}}';
    expect(problemsOf(text)).toMatchObject([
      { path: 'validation.job[0].label', line: 2, message: expect.stringContaining('twice') },
      { path: 'tags.__proto__', line: 2, message: expect.stringContaining('not allowed') },
    ]);
  });

  it.each(['[', '{"a":', '{"validation":{"x-a":['])('nesting without end of %j', (unit) => {
    expect(problemsOf(unit.repeat(200_000))[0]?.message).toMatch(/nested deeper than 100 levels/);
  });

  it('numbers that JSON cannot give back', () => {
    const text = JSON.stringify(inRule('job', { ...PLAYBOOK, extra_vars: { a: [7] } })).replace(
      '[7]',
      '[1e999]',
    );
    expect(problemsOf(text)).toMatchObject([{ path: 'validation.job[0].extra_vars.a' }]);
    expect(
      problemsOf('{"validation":{"job":[{"label":"l","validator":"task_count","min":1e30}]}}'),
    ).toHaveLength(1);
  });

  it('a folder name that cannot be a key', () => {
    const loaded = loadScenario({ file: 's.json', text: '{"validation":{}}', defaultKey: '..' });
    expect(loaded).toMatchObject({ ok: false, problems: [{ path: 'key', found: '".."' }] });
  });
});

describe('loadScenario never throws', () => {
  const whole = {
    key: 'k',
    validation: { gateway: [TICKET], job: [STATUS, COUNT], tasks: [MATCH, PLAYBOOK] },
  };
  const wholeText = JSON.stringify(whole);

  const survives = (document: unknown) => {
    const loaded = load(document);
    if (!loaded.ok) {
      expect(loaded.problems.length).toBeGreaterThan(0);
      for (const { path, message, file } of loaded.problems) {
        expect([typeof path, typeof message, file]).toEqual(['string', 'string', 's.json']);
      }
    } else sealScenario(loaded.scenario);
  };

  it('on any text', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), survives));
    const token = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      '"validation"',
      '"job"',
      ':',
      ',',
      '1',
      '"',
      '\\',
      ' ',
      'null',
    );
    fc.assert(fc.property(fc.array(token), (tokens) => survives(tokens.join(''))));
  });

  it('on any JSON, which it reads exactly as JSON.parse does', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        survives(text);
        survives(`{"validation":${text}}`);
        survives(`{"validation":{"job":[${text}]}}`);
        expect(problemsOf(text).some(({ message }) => message.startsWith('not valid JSON'))).toBe(false);
      }),
    );
  });

  it('on a text with one character changed, which it calls broken exactly when JSON.parse does', () => {
    fc.assert(
      fc.property(
        fc.nat(wholeText.length - 1),
        fc.constantFrom('', '"', '{', ']', ',', '\\', 'x', '0'),
        (at, char) => {
          const text = wholeText.slice(0, at) + char + wholeText.slice(at + 1);
          survives(text);
          let valid = true;
          try {
            JSON.parse(text);
          } catch {
            valid = false;
          }
          expect(problemsOf(text).some(({ message }) => message.startsWith('not valid JSON'))).toBe(!valid);
        },
      ),
    );
  });

  it('on a scenario with any value put anywhere: it loads, or says where', () => {
    const places = [
      'key',
      'validation',
      'gateway',
      'job',
      'tasks',
      'label',
      'validator',
      'pattern',
      'where',
      'min',
      'ansiblePath',
      'extra',
    ];
    fc.assert(
      fc.property(fc.constantFrom(...places), fc.jsonValue(), (place, value) => {
        const text = JSON.stringify({ ...whole, extra: 1 }, (key, old) => (key === place ? value : old));
        const loaded = load(text);
        if (!loaded.ok) expect(loaded.problems.every(({ path }) => path !== '')).toBe(true);
      }),
    );
  });
});

describe('sealing and storing', () => {
  const source = loadedOf({
    title: 't',
    validation: {
      job: [COUNT],
      tasks: [PLAYBOOK, { ...PLAYBOOK, ansiblePath: './b.yml', inventory: 'hosts/' }],
    },
  });

  it('names a scenario by the hash of what it is stored as', () => {
    const scenario = sealScenario(source, 'b'.repeat(64));
    expect(scenario.digest).toMatch(/^[0-9a-f]{64}$/);
    expect(scenarioDigest(scenario)).toBe(scenario.digest);
    expect(parseScenario(scenarioJson(scenario))).toEqual(scenario);
    expect(parseScenario(scenarioJson(sealScenario(source)))).toEqual(sealScenario(source));
  });

  it('changes the digest with key, title, rules, parameters and bundle, not with the order of keys', () => {
    const digest = (document: object, bundle?: string) => sealScenario(loadedOf(document), bundle).digest;
    const base = { key: 'k', validation: { job: [COUNT] } };
    const digests = [
      digest(base),
      digest({ ...base, key: 'l' }),
      digest({ ...base, title: 't' }),
      digest({ ...base, validation: { job: [{ ...COUNT, min: 2 }] } }),
      digest({ ...base, validation: { job: [{ ...COUNT, required: false }] } }),
      digest(base, 'x'),
    ];
    expect(new Set(digests).size).toBe(digests.length);
    expect(digest({ validation: { job: [{ min: 1, validator: 'task_count', label: 'l' }] }, key: 'k' })).toBe(
      digests[0],
    );
  });

  it('refuses stored text that is no scenario', () => {
    for (const text of ['', '{}', '[]', 'null', '{"key":"k","rules":[{"validator":"nope"}]}']) {
      expect(() => parseScenario(text)).toThrow();
    }
  });

  it('names the files that rules need', () => {
    expect(neededFiles(source)).toEqual([
      { path: 'validation.tasks[0].ansiblePath', file: 'validate.yml' },
      { path: 'validation.tasks[1].ansiblePath', file: 'b.yml' },
      { path: 'validation.tasks[1].inventory', file: 'hosts' },
    ]);
    expect(neededFiles(scenarioWith({ job: [COUNT] }))).toEqual([]);
  });
});

describe('the line of a problem', () => {
  const text = [
    '{',
    '  "title": "t",',
    '  "validation": {',
    '    "jobs": [],',
    '    "tasks": [',
    '      { "label": "l", "validator": "pattern_match", "pattern": "(",\r',
    '        "where": "nowhere" },',
    '      {',
    '        "validator": "task_count"',
    '      }',
    '    ]',
    '  }',
    '}',
  ].join('\n');

  it('is that of the offending value, or of the object that lacks it', () => {
    const lines = problemsOf(text).map(({ path, line }) => [path, line]);
    expect(lines).toContainEqual(['validation.jobs', 4]);
    expect(lines).toContainEqual(['validation.tasks[0].pattern', 6]);
    expect(lines).toContainEqual(['validation.tasks[0].where', 7]);
    expect(lines).toContainEqual(['validation.tasks[1].label', 8]);
    expect(lines).toContainEqual(['validation.tasks[1].validator', 9]);
  });

  it('is left out where the whole document is meant, and finds odd keys', () => {
    expect(problemsOf('{}')).toEqual([{ file: 's.json', path: 'validation', message: 'is missing' }]);
    expect(problemsOf('{"validation":\n{"odd key":\n1}}')[0]).toMatchObject({ line: 3 });
    expect(problemsOf('{"validation":\n{"a]b":\n1}}')[0]).toMatchObject({ line: 3 });
  });

  it('is found in time for thousands of problems', () => {
    const rules = Array.from({ length: 5000 }, (_, n) => `{"label": "l${n}"}`).join(',\n');
    const problems = problemsOf(`{"validation": {"job": [\n${rules}\n]}}`);
    expect(problems).toHaveLength(5000);
    expect(problems.at(-1)?.line).toBe(5001);
  });
});
