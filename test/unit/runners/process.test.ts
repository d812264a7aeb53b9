import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commandReturn } from '../../../src/core/command/return.js';
import type { ToolDocument } from '../../../src/core/registry/model.js';
import { readOnlyOf } from '../../../src/runners/process/available.js';
import { CappedOutput } from '../../../src/runners/process/capped.js';
import { endingOf } from '../../../src/runners/process/ending.js';
import { isInside, strayFile } from '../../../src/runners/process/folder.js';
import { liesIn } from '../../../src/runners/process/paths.js';
import { quoted, startScript } from '../../../src/runners/process/script.js';
import { socketFilter } from '../../../src/runners/process/seccomp.js';

describe('output with a cap', () => {
  const push = (cap: number, chunks: readonly (string | Buffer)[]) => {
    const output = new CappedOutput(cap);
    for (const chunk of chunks) output.push(Buffer.from(chunk));
    return output;
  };

  it('is whole while it fits', () => {
    const output = push(10, ['hello', 'world']);
    expect([output.toString(), output.truncated]).toEqual(['helloworld', false]);
  });

  it('notes the key of a result however the stream is cut into chunks, be it left out', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 12 }), { minLength: 1, maxLength: 8 });
    const word = fc.constantFrom('"passed"', "'passed'", '"passe', '"passed', 'passed"', 'passed');
    fc.assert(
      fc.property(fc.string(), word, fc.string(), sizes, (before, key, after, lengths) => {
        const all = Buffer.from(before + key + after);
        const chunks: Buffer[] = [];
        for (let at = 0, n = 0; at < all.length; n += 1) {
          const length = lengths[n % lengths.length] ?? 1;
          chunks.push(all.subarray(at, at + length));
          at += length;
        }
        expect(push(4, chunks).mentionsPassed).toBe(/"passed"|'passed'/.test(before + key + after));
      }),
    );
  });

  it('never lets a cut turn a result that failed into a pass', () => {
    const filler = fc.oneof(
      fc.string(),
      fc.string().map((text) => `${text}\n`),
    );
    const many = fc.array(filler, { maxLength: 20 }).map((parts) => parts.join(''));
    const result = fc
      .tuple(many, many)
      .map(([details, log]) => JSON.stringify({ details, passed: false, log }));
    fc.assert(
      fc.property(many, result, many, fc.integer({ min: 2, max: 400 }), (before, failed, after, cap) => {
        const printed = [before, failed, after].join('\n');
        const stdout = push(cap, printed.match(/[\s\S]{1,7}/g) ?? []);
        const back = commandReturn({ kind: 'validation' } as ToolDocument, {
          exitCode: 0,
          timedOut: false,
          deadlineMs: 1,
          truncated: stdout.truncated,
          stdoutTruncated: stdout.truncated,
          mentionsPassed: stdout.mentionsPassed,
          stdout: stdout.toString(),
          stderr: '',
        });
        const isPass = back.kind === 'verdict' && back.verdict.outcome === 'pass';
        expect(isPass && stdout.truncated).toBe(false);
      }),
    );
  });

  it('keeps head and tail and says what is missing', () => {
    const output = push(6, ['abcdef', 'ghi', 'jkl']);
    expect([output.toString(), output.truncated]).toEqual(['abc\n... 6 bytes left out ...\njkl', true]);
  });

  it('reads a character that came in two chunks', () => {
    const bytes = Buffer.from('ä');
    expect(push(10, [bytes.subarray(0, 1), bytes.subarray(1)]).toString()).toBe('ä');
  });

  it('reads what is no UTF-8 as U+FFFD', () => {
    expect(push(10, [Buffer.from([0x61, 0xff, 0x62])]).toString()).toBe('a\uFFFDb');
  });

  it('does not depend on how the stream was cut into chunks', () => {
    const chunks = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 40 }), { maxLength: 40 });
    fc.assert(
      fc.property(chunks, fc.integer({ min: 2, max: 100 }), (parts, cap) => {
        const [all, whole] = [parts.join(''), push(cap, [parts.join('')])];
        const output = push(cap, parts);
        expect(output.toString()).toBe(whole.toString());
        const half = Math.floor(cap / 2);
        expect(output.truncated).toBe(all.length > 2 * half);
        expect(output.toString().startsWith(all.slice(0, half))).toBe(true);
        expect(output.toString().endsWith(all.length > half ? all.slice(-half) : all)).toBe(true);
      }),
    );
  });

  it('keeps the last bytes of very many small chunks', () => {
    const output = push(
      8,
      Array.from({ length: 5000 }, (_, i) => `${i % 10}`),
    );
    expect(output.toString()).toBe('0123\n... 4992 bytes left out ...\n6789');
  });
});

describe('an ending', () => {
  it.each([
    [{ exitCode: 0 }, { exitCode: 0 }],
    [{ exitCode: 127 }, { exitCode: 127 }],
    [{ exitCode: 128 }, { exitCode: 128 }],
    [{ exitCode: 137 }, { exitCode: null, signal: 'SIGKILL' }],
    [{ exitCode: 143 }, { exitCode: null, signal: 'SIGTERM' }],
    [{ exitCode: 255 }, { exitCode: 255 }],
    [
      { exitCode: null, signal: 'SIGSEGV' as const },
      { exitCode: null, signal: 'SIGSEGV' },
    ],
  ])('%j means %j', (ending, expected) => expect(endingOf(ending)).toEqual(expected));
});

describe('files of a run', () => {
  it.each(['a', 'a/b.sh', './a', 'a b', '..a', 'a..', '...'])('may be %j', (path) =>
    expect(isInside(path)).toBe(true),
  );
  it.each(['', '.', '..', '/a', '../a', 'a/../../b', 'a/..', 'a\0b'])('may not be %j', (path) =>
    expect(isInside(path)).toBe(false),
  );
  it('are all looked at', () => {
    expect(
      strayFile(
        new Map([
          ['a', 1],
          ['../b', 2],
        ]),
      ),
    ).toBe('../b');
    expect(strayFile(undefined)).toBeUndefined();
  });
});

describe('results', () => {
  it.each([
    ['bubblewrap', 'enforced'],
    ['container', 'declared'],
    ['off', 'declared'],
  ] as const)('of tools with sandbox: %s say %s', (sandbox, expected) =>
    expect(readOnlyOf({ sandbox })).toBe(expected),
  );
});

describe('a folder', () => {
  it.each([
    ['/', '/a', true],
    ['/a', '/a', true],
    ['/a', '/a/b', true],
    ['/a', '/ab', false],
    ['/a/b', '/a', false],
  ])('%s holds %s: %s', (folder, path, expected) => expect(liesIn(folder, path)).toBe(expected));
});

describe('the start script', () => {
  it('gives words to the shell as they stand', () => {
    expect(quoted(`a'b $(c) "d" \\`)).toBe(`'a'\\''b $(c) "d" \\'`);
  });

  it('sets limits before anything of the tool runs', () => {
    const lines = startScript({
      program: '/bin/x',
      args: ["it's"],
      env: { A: '$B' },
      token: 'T',
      memoryKiB: 5,
      processes: 7,
      files: '/f',
    }).split('\n');
    expect(lines.slice(-4)).toEqual([
      "PATH=/usr/bin:/bin cp -R '/f/.' . || exit 1",
      "export A='$B'",
      `exec '/bin/x' 'it'\\''s'`,
      '',
    ]);
    expect(lines).toContain('ulimit -d 5 2>/dev/null');
    expect(lines).toContain('ulimit -u 7 2>/dev/null || ulimit -p 7 2>/dev/null');
  });
});

describe('the filter of system calls', () => {
  const ALLOWED = 0x7fff0000;
  const UNIX = 1;

  /** What the kernel would answer: the steps of classic BPF that the filter uses. */
  function answer(filter: Buffer, audit: number, call: number, argument = 0): number {
    const data = new Map([
      [0, call],
      [4, audit],
      [16, argument],
    ]);
    let word = 0;
    for (let i = 0; i < filter.length / 8; i++) {
      const [code, ifTrue, ifFalse] = [
        filter.readUInt16LE(8 * i),
        filter[8 * i + 2] ?? 0,
        filter[8 * i + 3] ?? 0,
      ];
      const value = filter.readUInt32LE(8 * i + 4);
      if (code === 0x06) return value;
      if (code === 0x20) word = data.get(value) ?? 0;
      else {
        const holds = code === 0x15 ? word === value : code === 0x35 ? word >= value : (word & value) !== 0;
        i += holds ? ifTrue : ifFalse;
      }
    }
    throw new Error('the filter has no end');
  }

  const [AUDIT, SOCKET, SOCKETPAIR, CLONE, UNSHARE] = [0xc000003e, 41, 53, 56, 272];
  it.each([
    ['a socket of the network', SOCKET, 2, true],
    ['a Unix socket', SOCKET, UNIX, false],
    ['a socket to the host of a virtual machine', SOCKET, 40, false],
    ['a pair of sockets', SOCKETPAIR, UNIX, true],
    ['a thread', CLONE, 0x003d0f00, true],
    ['a namespace of users by clone', CLONE, 0x10000011, false],
    ['a namespace of users by unshare', UNSHARE, 0x10000000, false],
    ['a call of another width', 0x40000000 + SOCKET, 2, false],
    ['io_uring, which opens sockets too', 425, 0, false],
    ['write', 1, 1, true],
  ])('without the network: %s', (_, call, argument, allowed) => {
    const filter = socketFilter(false, 'x64') ?? Buffer.alloc(0);
    expect(answer(filter, AUDIT, call, argument) === ALLOWED).toBe(allowed);
  });

  it('refuses calls of another machine', () => {
    const filter = socketFilter(true, 'x64') ?? Buffer.alloc(0);
    expect(answer(filter, 0x40000003, 1)).not.toBe(ALLOWED);
  });

  it('allows Unix sockets with the network', () => {
    for (const [arch, audit, socket] of [
      ['x64', AUDIT, SOCKET],
      ['arm64', 0xc00000b7, 198],
    ] as const)
      expect(answer(socketFilter(true, arch) ?? Buffer.alloc(0), audit, socket, UNIX)).toBe(ALLOWED);
  });

  it('is none where the numbers are not known', () => {
    expect(socketFilter(false, 'riscv64')).toBeUndefined();
  });
});
