import { type Problem, show } from '../problem.js';
import type { AttachmentScope } from '../registry/model.js';
import type { AttachmentCode } from './codes.js';

const NAME = /^[a-zA-Z0-9][a-zA-Z0-9._@:-]{0,127}$/;
const GRAMMAR = '[a-zA-Z0-9][a-zA-Z0-9._@:-]{0,127}';

export type ScopeAnswer =
  | { ok: true; scope: AttachmentScope; target: string | null }
  | { ok: false; problems: Problem[] };

function badName(scope: 'project' | 'plan', name: string): Problem {
  const code: AttachmentCode = scope === 'plan' ? 'BAD_PLAN' : 'BAD_PROJECT';
  return { code, path: scope, message: `a ${scope} is named ${GRAMMAR}`, found: show(name) };
}

function bothScopes(): Problem {
  const code: AttachmentCode = 'BOTH_SCOPES';
  const message = 'project and plan exclude each other: an attachment has one scope; attach once for each';
  return { code, path: '', message };
}

/** The scope of an attachment: the plan's, the project's or, with neither, the resource's own (ADR). */
export function scopeOf(project: string | undefined, plan: string | undefined): ScopeAnswer {
  const problems: Problem[] = [];
  if (project !== undefined && plan !== undefined) problems.push(bothScopes());
  if (project !== undefined && !NAME.test(project)) problems.push(badName('project', project));
  if (plan !== undefined && !NAME.test(plan)) problems.push(badName('plan', plan));
  if (problems.length > 0) return { ok: false, problems };
  if (plan !== undefined) return { ok: true, scope: 'plan', target: plan };
  if (project !== undefined) return { ok: true, scope: 'project', target: project };
  return { ok: true, scope: 'direct', target: null };
}
