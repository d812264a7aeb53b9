import type { Problem } from '../problem.js';
import { findCallable, findSkill, fullName } from '../registry/lookup.js';
import { isSkill, isValidation, type Registry, type SkillDocument } from '../registry/model.js';
import { unknownName } from './candidate.js';
import type { AttachmentCode } from './codes.js';

/** What a skill names: validations, which can be attached, and plain tools, which cannot. */
interface Members {
  skill: string;
  validations: string[];
  tools: string[];
}

function membersOf(registry: Registry, { name: skill, tools: names }: SkillDocument): Members {
  const members: Members = { skill, validations: [], tools: [] };
  for (const name of new Set(names.map(fullName))) {
    const document = findCallable(registry, name);
    // A name that is gone counts as a validation, so that it is refused and not passed over.
    const plain = document !== undefined && !isValidation(document);
    members[plain ? 'tools' : 'validations'].push(name);
  }
  return members;
}

function noSkill(registry: Registry, name: string): Problem {
  const document = findCallable(registry, name);
  if (document === undefined) {
    const documents = [...registry.entries.values()].map((entry) => entry.document);
    const skills = documents.filter(isSkill).map((each) => each.name);
    return unknownName('UNKNOWN_SKILL', 'skill', name, skills);
  }
  const code: AttachmentCode = 'NOT_A_SKILL';
  const message = 'a skill is a named list of tools and validations; a validation is attached by itself';
  return { code, path: 'skill', message, found: `${document.kind} ${document.name}` };
}

/** The members of a skill by its name; a skill without a validation has nothing to attach and is refused. */
export function findMembers(
  registry: Registry,
  name: string,
): { ok: true; members: Members } | { ok: false; problems: Problem[] } {
  const skill = findSkill(registry, name);
  if (skill === undefined) return { ok: false, problems: [noSkill(registry, name)] };
  const members = membersOf(registry, skill);
  if (members.validations.length > 0) return { ok: true, members };
  const code: AttachmentCode = 'SKILL_WITHOUT_VALIDATIONS';
  const message = 'the skill has no validation to attach, only plain tools; those gate nothing';
  return { ok: false, problems: [{ code, path: 'skill', message, found: skill.name }] };
}
