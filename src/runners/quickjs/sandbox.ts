import variant from '@jitl/quickjs-wasmfile-release-sync';
import {
  DefaultIntrinsics,
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSContext,
  type QuickJSHandle,
  type QuickJSRuntime,
  type QuickJSSyncVariant,
  type QuickJSWASMModule,
} from 'quickjs-emscripten-core';
import { INSIDE, MOST_BYTES, SIGNS, WORDS } from './inside.js';
import type { Task, TaskAnswer } from './messages.js';

/** Bytes that one call may have in use. */
const MEMORY_BYTES = 32 * 1024 * 1024;
/**
 * Pages of 64 KiB that the interpreter may have in all, its own 16 MiB included. QuickJS counts the
 * blocks that it is asked for, but here not their sizes: this is what holds a function that asks for many.
 */
const PAGES = { initial: 256, maximum: 1024 };
/** Four times as much crashes through the stack of the thread around it. */
const STACK_BYTES = 128 * 1024;
/** Longest description of what went wrong, in UTF-16 units. */
const MOST_MESSAGE = 2000;

type Failure = Extract<TaskAnswer, { ok: false }>;
type Reason = Failure['reason'];

// Node's types do not name it.
const { Memory } = (
  globalThis as unknown as {
    WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => { buffer: ArrayBuffer } };
  }
).WebAssembly;
/** Emscripten's own words for an abort go nowhere: the answer says it. */
const quiet: object = { print: () => {}, printErr: () => {} };
// The package's types describe its CommonJS side, where the variant is a property of the module.
const silent = newVariant(variant as unknown as QuickJSSyncVariant, {
  emscriptenModule: quiet,
  wasmMemory: () => new Memory(PAGES),
});

/**
 * Endings after which the module is given up: its memory may be broken, and is so scattered at the
 * least that later calls would be many times slower.
 */
const SPOILT: ReadonlySet<Reason> = new Set<Reason>(['deadline', 'memory', 'stack', 'internal']);

function failure(reason: Reason, message: string): Failure {
  const cut = message.length > MOST_MESSAGE ? `${message.slice(0, MOST_MESSAGE)}…` : message;
  return { ok: false, reason, message: cut };
}

const tooSlow = (ms: number): Failure =>
  failure('deadline', `the function did not return within ${Math.round(ms)} ms`);
const tooLarge = (): Failure =>
  failure('memory', `the function needs more than ${MEMORY_BYTES / 1024 / 1024} MiB of memory`);
const tooDeep = (): Failure =>
  failure('stack', 'the function, or the data that it was given, is nested too deeply');

/**
 * QuickJS, one call at a time, each in a runtime of its own, so that nothing of a call reaches the
 * next. Holds its thread until the call has ended. The deadline works between the steps of the
 * function; loops inside QuickJS itself run on past it, so whoever has the thread must be able to end it.
 */
export class Sandbox {
  #module: QuickJSWASMModule | undefined;

  /** Loads the interpreter, where the last call has spoilt it anew; to be called before each task. */
  async prepare(): Promise<void> {
    this.#module ??= await newQuickJSWASMModuleFromVariant(silent);
  }

  /** Never throws. */
  run(task: Task): TaskAnswer {
    const module = this.#module;
    if (module === undefined) return failure('internal', 'the interpreter is not loaded');
    let answer: TaskAnswer | undefined;
    try {
      const { runtime, context, expired } = opened(module, task.deadlineMs);
      answer = called(context, task);
      if (isOutOfMemory(answer, module)) answer = tooLarge();
      if (expired()) answer = tooSlow(task.deadlineMs);
      if (answer.ok || !SPOILT.has(answer.reason)) {
        context.dispose();
        runtime.dispose();
        return answer;
      }
    } catch (error) {
      answer ??= brokenDown(error);
    }
    this.#module = undefined;
    return answer;
  }
}

/** With no memory left for an error either, QuickJS throws null. */
function isOutOfMemory(answer: TaskAnswer, module: QuickJSWASMModule): boolean {
  if (answer.ok || (answer.message !== 'null' && answer.reason !== 'internal')) return false;
  return module.getWasmMemory().buffer.byteLength > (PAGES.maximum - 16) * 65_536;
}

interface Opened {
  runtime: QuickJSRuntime;
  context: QuickJSContext;
  expired: () => boolean;
}

function opened(module: QuickJSWASMModule, deadlineMs: number): Opened {
  const runtime = module.newRuntime({ memoryLimitBytes: MEMORY_BYTES, maxStackSizeBytes: STACK_BYTES });
  const until = performance.now() + deadlineMs;
  let expired = false;
  runtime.setInterruptHandler(() => {
    expired ||= performance.now() > until;
    return expired;
  });
  const context = runtime.newContext({ intrinsics: { ...DefaultIntrinsics, Date: false } });
  return { runtime, context, expired: () => expired };
}

function called(context: QuickJSContext, task: Task): TaskAnswer {
  const inside = context.evalCode(INSIDE, '<sluice>', { strict: true });
  if (inside.error !== undefined) return uncaught(context, inside.error);
  const [source, args, words] = [task.source, task.args, WORDS].map((text) => context.newString(text));
  const only = task.kind === 'check' ? context.true : context.false;
  const given = [source, args, only, words] as QuickJSHandle[];
  const answer = context.callFunction(inside.value, context.undefined, ...given);
  for (const handle of [inside.value, ...given]) handle.dispose();
  if (answer.error !== undefined) return uncaught(context, answer.error);
  const text = context.getString(answer.value);
  answer.value.dispose();
  return understood(text[0], text.slice(1));
}

/** What no `catch` inside could take: an interrupt, or memory or stack that ran out while it did. */
function uncaught(context: QuickJSContext, error: QuickJSHandle): Failure {
  const message = context.getProp(error, 'message');
  const text = context.typeof(message) === 'string' ? context.getString(message) : 'unknown reason';
  message.dispose();
  error.dispose();
  return exhausted(text) ?? failure('internal', `the interpreter failed: ${text}`);
}

/** QuickJS' own words for its limits. */
function exhausted(text: string): Failure | undefined {
  if (text.endsWith('out of memory')) return tooLarge();
  return text.endsWith('stack overflow') ? tooDeep() : undefined;
}

function understood(sign: string | undefined, rest: string): TaskAnswer {
  if (sign === SIGNS.value) {
    const fits = Buffer.byteLength(rest) <= MOST_BYTES;
    return fits
      ? { ok: true, json: rest }
      : failure('malformed', 'the function returned more than 1 MiB of JSON');
  }
  const [what, where] = JSON.parse(rest) as [string, string];
  if (sign === SIGNS.malformed) {
    const at = where === '' ? '' : ` at ${where.slice(0, 200)}`;
    return failure('malformed', `the function returned ${what}${at}`);
  }
  const limit = exhausted(what);
  if (limit !== undefined) return limit;
  const line = /<input>:(\d+)/.exec(where)?.[1];
  const text = line === undefined ? what : `${what} (line ${line})`;
  if (sign !== SIGNS.syntax) return failure('threw', text);
  // The source stands in brackets there, which its author did not write.
  const own = text.replace(/^SyntaxError: /, '').replace(/expecting '[\])]'/, 'expecting its end');
  return failure('syntax', own);
}

/** The module itself gave up: a limit was passed around the interpreter's own. */
function brokenDown(error: unknown): Failure {
  if (error instanceof RangeError) return tooDeep();
  const message = error instanceof Error ? error.message : String(error);
  if (/memory|enlarge|OOM/i.test(message)) return tooLarge();
  return failure('internal', `the interpreter broke down: ${message}`);
}
