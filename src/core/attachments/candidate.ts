import { nearestName, type Problem, show } from '../problem.js';
import { inputSchemaOf, slotsOf } from '../registry/closure.js';
import { schemaProblems } from '../registry/json-schema.js';
import { findCallable, findSkill, fullName, validationNames } from '../registry/lookup.js';
import {
  type AttachmentScope,
  isValidation,
  type JsonObject,
  type Registry,
  type ResolvedTool,
} from '../registry/model.js';
import type { AttachmentCode } from './codes.js';
import { argumentsFlaw } from './limits.js';
import { parseResource, type ResourceName, resourceProblem } from './resource.js';
import { scopeOf } from './scope.js';
import { bindSlot } from './slots.js';
import { resolveValidation } from './standing.js';

/** What is asked for, whichever validation it is about. */
export interface Asked {
  resource: string;
  arguments: JsonObject;
  /** With a project: applies when the resource is reached through it; with a plan: in that plan. Never both. */
  project?: string;
  plan?: string;
  /** The resource slot to bind; needed where several fit. */
  slot?: string;
}

/** Where an attachment goes. */
export interface Place {
  scope: AttachmentScope;
  target: string | null;
}

/** A validation that takes the resource, in that slot. */
export interface Fitting {
  name: string;
  slot: string | null;
}

type Found<T> = { ok: true; found: T } | { ok: false; problems: Problem[] };

function refused(code: AttachmentCode, path: string, message: string, more: Partial<Problem> = {}): Problem {
  return { code, path, message, ...more };
}

/** A name that is not there, with the nearest that is. */
export function unknownName(code: AttachmentCode, path: string, name: string, known: string[]): Problem {
  const nearest = nearestName(fullName(name), known);
  const message = `no ${path} of this name is registered`;
  return refused(code, path, message, { found: show(name), ...(nearest === undefined ? {} : { nearest }) });
}

function noValidation(registry: Registry, name: string): Problem {
  const full = fullName(name);
  if (findSkill(registry, name) !== undefined) {
    const message = 'a skill is no validation; the validations in it are attached with the skill';
    return refused('NOT_A_VALIDATION', 'validation', message, { found: `skill ${full}` });
  }
  const message = `only validations can be attached: register a validation that wraps the tool (wraps: ${full}, with a transform), or register the tool itself as a validation`;
  return refused('NOT_A_VALIDATION', 'validation', message, { found: `plain tool ${full}` });
}

function findValidation(registry: Registry, name: string): Found<{ name: string; tool: ResolvedTool }> {
  const document = findCallable(registry, name);
  if (document === undefined && findSkill(registry, name) === undefined) {
    const problem = unknownName('UNKNOWN_VALIDATION', 'validation', name, validationNames(registry));
    return { ok: false, problems: [problem] };
  }
  if (document === undefined || !isValidation(document)) {
    return { ok: false, problems: [noValidation(registry, name)] };
  }
  const tool = resolveValidation(registry, document.name);
  if (typeof tool !== 'string') return { ok: true, found: { name: document.name, tool } };
  return { ok: false, problems: [refused('UNKNOWN_VALIDATION', 'validation', tool)] };
}

/** Scope and target, with every problem of the names. */
export function placeOf(asked: Asked): Found<Place> {
  const flaw = resourceProblem(asked.resource);
  const resource =
    flaw === undefined ? [] : [refused('BAD_RESOURCE', 'resource', flaw, { found: show(asked.resource) })];
  const scope = scopeOf(asked.project, asked.plan);
  const problems = [...resource, ...(scope.ok ? [] : scope.problems)];
  if (!scope.ok || problems.length > 0) return { ok: false, problems };
  return { ok: true, found: { scope: scope.scope, target: scope.target } };
}

function argumentProblems(tool: ResolvedTool, given: JsonObject): Problem[] {
  const flaw = argumentsFlaw(given);
  if (flaw !== undefined) return [refused('BAD_ARGUMENTS', 'arguments', flaw)];
  return schemaProblems(inputSchemaOf(tool), given, 'arguments');
}

function slotOf(tool: ResolvedTool, resource: ResourceName | undefined, named: string | undefined) {
  // A misnamed resource is a problem of its own; which slot it would fit cannot be said.
  if (resource === undefined) return { ok: true as const, slot: null };
  return bindSlot(slotsOf(tool), resource, named);
}

/**
 * A validation by its name, in full or short, and the slot in which it takes the resource, when it
 * takes the arguments too; every problem at once (DESIGN 4.5, 4.10).
 */
export function findFitting(registry: Registry, validation: string, asked: Asked): Found<Fitting> {
  const answer = findValidation(registry, validation);
  if (!answer.ok) return answer;
  const { name, tool } = answer.found;
  const binding = slotOf(tool, parseResource(asked.resource), asked.slot);
  const problems = [...argumentProblems(tool, asked.arguments), ...(binding.ok ? [] : binding.problems)];
  if (!binding.ok || problems.length > 0) return { ok: false, problems };
  return { ok: true, found: { name, slot: binding.slot } };
}
