import { digestOf } from '../digest.js';
import { brokenAttachments } from './attached.js';
import type { CodedProblem } from './codes.js';
import { type Draft, refuse } from './documents.js';
import { nearestOf } from './fields.js';
import { graphNameProblems, graphProblems, hasGraph } from './graph-problems.js';
import { callableIn, callableNames, type Entries, usedBy } from './lookup.js';
import {
  type CallableDocument,
  isSkill,
  isValidation,
  type Registry,
  type RegistryDocument,
  type SkillDocument,
  type ValidationDocument,
} from './model.js';
import { unknownMapped, wrappingProblems } from './wrapping.js';

/** Refuses documents for what they would mean for each other, and for what stands. */
export function refuseConsequences(registry: Registry, drafts: readonly Draft[]): void {
  for (const [draft, problem] of new Consequences(registry, drafts).all()) refuse(draft, problem);
}

class Consequences {
  /** The registry as it would be. */
  readonly #entries: Entries;
  readonly #changed: ReadonlyMap<string, Draft>;
  /** Names of documents that are refused: nothing that follows from them is told. */
  readonly #broken: ReadonlySet<string>;

  constructor(
    private readonly registry: Registry,
    private readonly drafts: readonly Draft[],
  ) {
    const sound = drafts.filter(({ document }) => document !== undefined);
    const entries = new Map<string, { document: RegistryDocument }>(registry.entries);
    for (const { document } of sound) if (document !== undefined) entries.set(document.name, { document });
    this.#entries = entries;
    this.#broken = new Set(drafts.flatMap(({ document, name }) => (document ? [] : (name ?? []))));
    this.#changed = new Map(
      sound.flatMap((draft): [string, Draft][] => {
        const { document } = draft;
        if (document === undefined) return [];
        const isChanged = registry.entries.get(document.name)?.version !== digestOf(document);
        return isChanged ? [[document.name, draft]] : [];
      }),
    );
  }

  /** Problems with the documents that they are told of. */
  all(): [Draft, CodedProblem][] {
    const own = this.drafts.flatMap((draft) => {
      const problems = draft.document === undefined ? this.#named(draft) : this.#own(draft.document);
      return problems.map((problem): [Draft, CodedProblem] => [draft, problem]);
    });
    // What is wrong with a document by itself explains enough.
    const refused = new Set(own.map(([draft]) => draft));
    return [...own, ...this.#dependents().filter(([draft]) => !refused.has(draft))];
  }

  #own(document: RegistryDocument): CodedProblem[] {
    return isSkill(document) ? this.#members(document) : this.#inside(document);
  }

  /** What keeps it from wrapping or calling what it names. */
  #inside(document: CallableDocument): CodedProblem[] {
    if (isWrapping(document)) return wrappingProblems(this.#entries, document, this.#broken);
    return hasGraph(document) ? graphProblems(this.#entries, document, this.#broken) : [];
  }

  /** Of a document that is refused already: names that its mapping or its graph gets wrong. */
  #named({ name, wrapping, graph }: Draft): CodedProblem[] {
    if (graph !== undefined) return graphNameProblems(this.#entries, name, graph, this.#broken);
    return wrapping === undefined || this.#broken.has(wrapping.wraps)
      ? []
      : unknownMapped(this.#entries, wrapping.wraps, wrapping.mapped);
  }

  #members({ tools }: SkillDocument): CodedProblem[] {
    return tools.flatMap((name, n): CodedProblem[] => {
      if (callableIn(this.#entries, name) !== undefined || this.#broken.has(name)) return [];
      const named = this.#entries.get(name);
      const message =
        named === undefined ? 'is not registered' : 'is a skill; a skill lists tools and validations';
      const nearest = nearestOf(name, callableNames({ entries: this.#entries }));
      return [{ code: 'UNKNOWN_TOOL', path: `tools[${n}]`, message, found: name, ...nearest }];
    });
  }

  /** What would no longer hold of documents that are not given, and of attachments; with who is to blame. */
  #dependents(): [Draft, CodedProblem][] {
    const given = new Set(this.drafts.map(({ name }) => name));
    return [...this.#entries.values()].flatMap(({ document }) => {
      if (isSkill(document)) return [];
      const blamed = this.#blamed(document);
      if (blamed === undefined) return [];
      const around = given.has(document.name) ? [] : this.#around(document);
      const broken =
        around.length > 0 || !isValidation(document)
          ? []
          : brokenAttachments(this.#entries, document, this.registry.attachments);
      return [...around, ...broken].map((problem): [Draft, CodedProblem] => [blamed, problem]);
    });
  }

  #around(document: CallableDocument): CodedProblem[] {
    const isGraph = hasGraph(document);
    return this.#inside(document).map(({ path, message }) => ({
      code: isGraph ? 'BREAKS_GRAPH' : 'BREAKS_WRAPPER',
      path: '',
      message: `would break ${document.name}, which ${isGraph ? 'calls' : 'wraps'} it: ${path === 'wraps' ? 'it' : path} ${message}`,
    }));
  }

  /** The changed document that is nearest inside a document, itself first. */
  #blamed({ name }: CallableDocument): Draft | undefined {
    const names = new Set([name]);
    for (const each of names) {
      const draft = this.#changed.get(each);
      if (draft !== undefined) return draft;
      const document = callableIn(this.#entries, each);
      if (document !== undefined) for (const used of usedBy(document)) names.add(used);
    }
    return undefined;
  }
}

function isWrapping(document: RegistryDocument): document is ValidationDocument & { wraps: string } {
  return isValidation(document) && document.wraps !== undefined;
}
