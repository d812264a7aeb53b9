import { failureWithOutput } from '../../core/failure.js';
import { nearestName } from '../../core/problem.js';
import { PLUGIN_PREFIX } from '../../core/registry/needs.js';
import type { LoadedPlugins, PluginDescription } from '../../core/registry/plugins.js';
import type { RunFailure } from '../../core/validators/validator.js';
import type { Ran, ToolOutput, ToolRun, ToolRunner } from '../../ports/runner.js';
import type { Processes } from '../process/request.js';
import { locate } from './locate.js';
import { PluginPool } from './pool.js';

export interface PluginSettings {
  modules: readonly { module: string; network: boolean }[];
  /** Folder that relative modules and package names are resolved from. */
  from: string;
}

/** Milliseconds that a first child of a module may take, with all that has to be done before it is started. */
const LOAD_MS = 15_000;

interface Module {
  module: string;
  pool: PluginPool;
}

/** A module that was tried: what it brings, or why it brings nothing. */
type Tried = Module & { validations: PluginDescription[] };
type Broken = LoadedPlugins['broken'][number];

/**
 * Runs the validations of operators' plugins in children under Node's permission model (DESIGN 6.5). A
 * child keeps what its module keeps from one call to the next.
 */
export class PluginRunner implements ToolRunner {
  readonly #settings: PluginSettings;
  readonly #processes: Processes;
  readonly #pools = new Map<string, Module>();
  #loading: Promise<LoadedPlugins> | undefined;
  /** By name of the validation. */
  readonly #owners = new Map<string, Module>();
  #closed = false;

  constructor(settings: PluginSettings, processes: Processes) {
    this.#settings = settings;
    this.#processes = processes;
  }

  /**
   * Loads every module once to see what it brings; a module that does not load, or that brings a name
   * which an earlier one has, is in `broken` with the reason. Never throws.
   */
  load(): Promise<LoadedPlugins> {
    this.#loading ??= this.#load();
    return this.#loading;
  }

  async run(call: ToolRun, signal: AbortSignal): Promise<Ran<ToolOutput>> {
    const ends = performance.now() + call.deadlineMs;
    const name = (call.document.validator ?? '').slice(PLUGIN_PREFIX.length);
    const loaded = await inTime(this.load(), call.deadlineMs, signal);
    if (loaded === undefined)
      return ranNot(failureWithOutput('deadline', 'the plugins were not loaded in time'));
    const owner = this.#owners.get(name);
    if (owner === undefined) return ranNot(unknown(name, loaded));
    const { pool } = owner;
    const child = await pool.take(Math.max(0, ends - performance.now()), signal);
    if ('kind' in child) return ranNot(child);
    const { readOnly } = child;
    let discarded: Promise<void> | undefined;
    const abort = () => {
      discarded = pool.discard(child);
    };
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    const outcome = await child.call(name, inputOf(call), Math.max(1, ends - performance.now()));
    signal.removeEventListener('abort', abort);
    await discarded;
    if (discarded !== undefined) throw stopped(signal);
    pool.give(child);
    return { outcome, readOnly };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#pools.values()].map(({ pool }) => pool.close()));
    await this.#loading;
  }

  async #load(): Promise<LoadedPlugins> {
    const { modules } = this.#settings;
    const tried = await Promise.all(modules.map(({ module, network }) => this.#try(module, network)));
    const broken: Broken[] = [];
    for (const each of tried) {
      if (each === undefined) continue;
      const reason = 'reason' in each ? each.reason : this.#clash(each);
      if (reason !== undefined) broken.push({ module: each.module, reason });
      else if (!('reason' in each)) for (const { name } of each.validations) this.#owners.set(name, each);
    }
    const sound = tried.flatMap((each) => (each === undefined || 'reason' in each ? [] : each.validations));
    const validations = sound.filter(({ name, module }) => this.#owners.get(name)?.module === module);
    return { validations, broken };
  }

  /** Undefined for a module that is there already. */
  async #try(module: string, network: boolean): Promise<Tried | Broken | undefined> {
    const located = await locate(module, this.#settings.from);
    if (typeof located === 'string') return { module, reason: located };
    if (this.#pools.has(located.specifier)) return undefined;
    const pool = new PluginPool(located, network, this.#processes);
    this.#pools.set(located.specifier, { module, pool });
    if (this.#closed) await pool.close();
    const child = await pool.take(LOAD_MS);
    if ('kind' in child) {
      await pool.close();
      return { module, reason: reasonOf(child) };
    }
    const validations = child.validations.map((each) => ({ ...each, module }));
    pool.give(child);
    return { module, pool, validations };
  }

  #clash({ module, validations }: Tried): string | undefined {
    const taken = validations.find(({ name }) => this.#owners.has(name));
    if (taken === undefined) return undefined;
    const other = this.#owners.get(taken.name)?.module;
    return `it brings ${taken.name}, as ${other} does before it; names must be unique (none of ${module} is used)`;
  }
}

/** Undefined when it takes longer. Throws when aborted. */
function inTime<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(stopped(signal));
    const timer = setTimeout(() => resolve(undefined), ms);
    signal.addEventListener('abort', abort, { once: true });
    if (signal.aborted) abort();
    void promise.then(resolve).finally(() => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    });
  });
}

const stopped = ({ reason }: AbortSignal) =>
  new Error('stopped: the worker is shutting down', { cause: reason });

/** Nothing ran, so nothing was written. */
const ranNot = (outcome: RunFailure): Ran<ToolOutput> => ({ outcome, readOnly: 'enforced' });

function inputOf({ args, subject, resource, slot, ...rest }: ToolRun): Record<string, unknown> {
  return { args, subject, resource, slot, ...('state' in rest ? { state: rest.state } : {}) };
}

function reasonOf({ message, data }: RunFailure): string {
  const said = typeof data?.raw_output === 'string' ? data.raw_output.trim().slice(-1_000) : '';
  return said === '' ? message : `${message}: ${said}`;
}

function unknown(name: string, { validations, broken }: LoadedPlugins): RunFailure {
  const names = validations.map((each) => each.name);
  const nearest = nearestName(name, names);
  const hint = nearest === undefined ? '' : `; did you mean "${nearest}"?`;
  const others = broken.map(({ module, reason }) => `; ${module} was not loaded: ${reason}`).join('');
  return failureWithOutput('no_plugin', `no plugin of this worker brings ${name}${hint}${others}`);
}
