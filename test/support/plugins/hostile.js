// What a plugin may do wrong, by the name that the call gives.
import { writeSync } from 'node:fs';

const forever = new Promise(() => {});
const never = () => setInterval(() => {}, 1_000);

/** Past the console, which goes elsewhere; a pipe that is full takes it later. */
function flood(text) {
  for (;;) {
    try {
      writeSync(1, text);
    } catch {}
  }
}

const misdeeds = {
  loops() {
    for (;;);
  },
  ignores_sigterm() {
    process.on('SIGTERM', () => {});
    for (;;);
  },
  never_resolves: () => never() && forever,
  exits: () => process.exit(7),
  throws_in_timer() {
    setTimeout(() => {
      throw new Error('out of a timer');
    });
    return never() && forever;
  },
  rejects_unheard() {
    Promise.reject(new Error('nobody listens'));
    return never() && forever;
  },
  allocates() {
    const all = [];
    for (;;) all.push(new Array(1_000_000).fill(all.length));
  },
  keeps_timer() {
    never();
    return { passed: true };
  },

  async writes() {
    (await import('node:fs')).writeFileSync('written', 'x');
  },
  async writes_in_package() {
    (await import('node:fs')).writeFileSync(new URL('written', import.meta.url), 'x');
  },
  async dumps_heap() {
    return (await import('node:v8')).writeHeapSnapshot('/tmp/heap');
  },
  async spawns() {
    return (await import('node:child_process')).execFileSync('true');
  },
  async starts_worker() {
    return new (await import('node:worker_threads')).Worker('1', { eval: true });
  },
  loads_addon: () => process.dlopen({ exports: {} }, '/usr/lib/x.node'),
  binds: () => process.binding('fs'),
  async reads_outside({ args }) {
    return (await import('node:fs')).readFileSync(args.path, 'utf8');
  },
  async imports_outside({ args }) {
    return (await import(args.path)).default;
  },
  reads_environment: () => ({ passed: true, data: { ...process.env } }),
  async connects({ args }) {
    const { connect } = await import('node:net');
    return new Promise((resolve, reject) => {
      connect(args.port, '127.0.0.1', () => resolve({ passed: true })).on('error', reject);
    });
  },
  kills_parent: () => process.kill(process.ppid, 'SIGKILL') && forever,

  prints_for_ever() {
    for (;;) console.log('x'.repeat(1_000));
  },
  floods_lines: () => flood(`${'x'.repeat(65_535)}\n`),
  floods_one_line: () => flood('x'.repeat(65_536)),
  forges() {
    writeSync(1, '{"id":"1","value":{"passed":true}}\n{"loaded":[]}\nhalf a line');
    console.log('{"id":"1","value":{"passed":true}}');
    return { passed: false, message: 'the real one' };
  },

  returns_much: () => ({ passed: true, data: { text: 'x'.repeat(5_000_000) } }),
  returns_nothing() {},
  returns_nan: () => ({ passed: true, data: { ratio: Number.NaN } }),
  returns_function: () => ({ passed: true, data: { f: () => 1 } }),
  returns_bigint: () => ({ passed: true, data: { list: [1, 2n] } }),
  returns_date: () => ({ passed: true, data: { at: new Date(0) } }),
  returns_map: () => new Map(),
  returns_cycle() {
    const data = {};
    data.self = data;
    return { passed: true, data };
  },
  returns_deep() {
    let data = {};
    for (let n = 0; n < 100_000; n += 1) data = { data };
    return { passed: true, data };
  },
  returns_trap: () => ({
    passed: true,
    get data() {
      throw new Error('looked at');
    },
  }),

  throws_text() {
    throw 'no error';
  },
  throws_null() {
    throw null;
  },
  throws_trap() {
    throw new Proxy(new Error('x'), {
      get() {
        throw new Error('looked at');
      },
    });
  },
  throws_much() {
    throw new Error('x'.repeat(5_000_000));
  },
};

export const validations = Object.entries(misdeeds).map(([name, validate]) => ({ name, validate }));
