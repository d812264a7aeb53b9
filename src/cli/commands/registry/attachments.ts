import { attachmentDocument, explanationDocument } from '../../../app/registry/documents.js';
import type { RegistryService } from '../../../app/registry/service.js';
import { registryOf } from '../../../compose.js';
import { resourceProblem } from '../../../core/attachments/resource.js';
import { canonicalJson } from '../../../core/json.js';
import { nearestName, SluiceError, show } from '../../../core/problem.js';
import { inputSchemaOf } from '../../../core/registry/closure.js';
import { fullName } from '../../../core/registry/lookup.js';
import { type Attachment, isSkill, type JsonObject } from '../../../core/registry/model.js';
import { type AskerOptions, askFleet, withFleet } from '../../asker.js';
import { type GivenWords, misplacedNames, readArguments } from '../../given-arguments.js';
import { ProblemList } from '../../options.js';
import { print, printJson, say } from '../../output.js';
import { tableOf } from '../../table.js';

const NOT_ATTACHED = 'nothing was attached.';

const scopeOf = ({ scope, target }: Attachment) => (target === null ? scope : `${scope} ${target}`);

export interface AttachOptions extends AskerOptions {
  args?: string;
  project?: string;
  plan?: string;
  slot?: string;
  mode?: string | true;
}

function checkAttach({ project, plan, mode }: AttachOptions, problems: ProblemList): void {
  if (project !== undefined && plan !== undefined)
    problems.add({
      code: 'BOTH_SCOPES',
      path: '--plan',
      message: 'cannot go with --project; an attachment has one scope',
      found: `--project ${project} --plan ${plan}`,
    });
  if (mode !== undefined)
    problems.add({
      code: 'MODE_FIXED',
      path: '--mode',
      message: 'is set when a validation is registered and cannot be changed by an attachment',
    });
}

const isUnknown = (error: unknown) => error instanceof SluiceError && error.code === 'NOT_FOUND';

/** The schema that arguments are read by; any, where attaching will say that the name is unknown. */
async function schemaOf(registry: RegistryService, validation: string): Promise<JsonObject> {
  try {
    return inputSchemaOf(await registry.tool(validation));
  } catch (error) {
    if (isUnknown(error)) return {};
    throw error;
  }
}

async function schemaOfSkill(registry: RegistryService, skill: string): Promise<JsonObject> {
  try {
    const { document } = (await registry.entry('skill', skill)).entry;
    const names = isSkill(document) ? document.tools : [];
    return { anyOf: await Promise.all(names.map((name) => schemaOf(registry, name))) };
  } catch (error) {
    if (isUnknown(error)) return {};
    throw error;
  }
}

/** Says which attachments stood before in the same words: their ids are no new ones. */
function tellStanding(attachments: readonly Attachment[], existing: readonly string[]): void {
  for (const { id, validation } of attachments)
    if (existing.includes(id)) say(`sluice: ${validation} is attached already, as ${id}`);
}

async function told(attachments: Attachment[], passedOver: string[], json: boolean): Promise<void> {
  if (json) {
    const documents = attachments.map(attachmentDocument);
    await printJson({ attachments: documents, passed_over: passedOver });
    return;
  }
  await print(attachments.map(({ id, validation }) => `${id}  ${validation}\n`).join(''));
  for (const tool of passedOver) say(`sluice: passed over ${tool}: a plain tool gates nothing`);
}

/**
 * `sluice validation|skill attach RESOURCE NAME`: prints the id, or those of a skill's validations;
 * answers 0. Throws INVALID_ATTACHMENT or USAGE.
 */
export function attach(
  kind: 'validation' | 'skill',
  resource: string,
  name: string,
  given: GivenWords,
  options: AttachOptions,
): Promise<number> {
  const problems = new ProblemList();
  misplacedNames({ resource, [kind]: name }, problems);
  checkAttach(options, problems);
  return withFleet(options, 'write', problems, NOT_ATTACHED, async ({ engine, actor }) => {
    const registry = registryOf(engine);
    const schema = await (kind === 'skill' ? schemaOfSkill(registry, name) : schemaOf(registry, name));
    const args = await readArguments(schema, options.args, given, problems);
    problems.throwIfAny('USAGE', NOT_ATTACHED);
    const { project, plan, slot, json = false } = options;
    const place = {
      resource,
      arguments: args,
      ...(project === undefined ? {} : { project }),
      ...(plan === undefined ? {} : { plan }),
      ...(slot === undefined ? {} : { slot }),
    };
    if (kind === 'skill') {
      const { attachments, passedOver, existing } = await registry.attachSkill(
        { ...place, skill: name },
        actor,
      );
      await told(attachments, passedOver, json);
      tellStanding(attachments, existing);
      return 0;
    }
    const { attachment, existing } = await registry.attachOnce({ ...place, validation: name }, actor);
    if (json) await printJson(attachmentDocument(attachment));
    else await print(`${attachment.id}\n`);
    tellStanding([attachment], existing ? [attachment.id] : []);
    return 0;
  });
}

/** `sluice validation detach ID`; answers 0. Throws NOT_FOUND. */
export async function detach(id: string, options: AskerOptions): Promise<number> {
  await askFleet(options, 'write', ({ engine }) => registryOf(engine).detach(id));
  if (options.json) await printJson({ detached: id });
  else await print(`detached ${id}\n`);
  return 0;
}

/** A sentence about the name that was probably meant; empty where there is none. */
function nearestOf(given: readonly (string | undefined)[], names: readonly string[]): string {
  const nearest = given.flatMap((name) => (name === undefined ? [] : (nearestName(name, names) ?? [])));
  return nearest.length === 0 ? '' : ` Did you mean ${nearest.join(' and ')}?`;
}

export interface AttachmentsOptions extends AskerOptions {
  resource?: string;
  validation?: string;
}

/** `sluice validation attachments`; answers 0. */
export async function listAttachments(options: AttachmentsOptions): Promise<number> {
  const { resource, validation } = options;
  const filter = {
    ...(resource === undefined ? {} : { resource }),
    ...(validation === undefined ? {} : { validation }),
  };
  const { found, all } = await askFleet(options, 'read', async ({ engine }) => {
    const registry = registryOf(engine);
    const found = await registry.attachments(filter);
    return { found, all: found.length > 0 ? found : await registry.attachments() };
  });
  if (options.json) {
    await printJson({ attachments: found.map(attachmentDocument) });
    return 0;
  }
  if (found.length === 0) {
    const names = all.flatMap((each) => [
      ...(resource === undefined ? [] : [each.resource]),
      ...(validation === undefined ? [] : [each.validation]),
    ]);
    const meant = nearestOf([resource, validation === undefined ? undefined : fullName(validation)], names);
    say(`sluice: there is no such attachment.${meant}`);
  }
  const rows = found.map((each) => [
    each.id,
    each.resource,
    each.validation,
    scopeOf(each),
    canonicalJson(each.arguments),
  ]);
  await print(tableOf(['id', 'resource', 'validation', 'scope', 'arguments'], rows));
  return 0;
}

export interface ExplainOptions extends AskerOptions {
  project?: string;
  plan?: string;
}

/** `sluice validation explain RESOURCE`; answers 0. A plan that exists is reached through its project. */
export async function explain(resource: string, options: ExplainOptions): Promise<number> {
  const { plan } = options;
  const problems = new ProblemList();
  const message = resourceProblem(resource);
  if (message !== undefined)
    problems.add({ code: 'BAD_RESOURCE', path: 'resource', message, found: show(resource) });
  const answer = await withFleet(options, 'read', problems, 'nothing was read.', async ({ engine }) => {
    const registry = registryOf(engine);
    const known = plan === undefined ? undefined : await engine.store.plans.plan(plan);
    const project = options.project ?? known?.project ?? null;
    const explanations = await registry.explain(resource, project, plan ?? null);
    return { project, explanations, all: explanations.length > 0 ? [] : await registry.attachments() };
  });
  const { project, explanations, all } = answer;
  if (options.json) {
    const documents = explanations.map(explanationDocument);
    await printJson({ resource, project, plan: plan ?? null, attachments: documents });
    return 0;
  }
  if (explanations.length === 0) {
    const meant = nearestOf(
      [resource],
      all.map((each) => each.resource),
    );
    say(`sluice: nothing is attached to ${resource}, in whatever scope.${meant}`);
  }
  const rows = explanations.map(({ attachment, mode, applies, reason }) => [
    attachment.id,
    attachment.validation,
    mode,
    scopeOf(attachment),
    canonicalJson(attachment.arguments),
    `${applies ? 'yes' : 'no'}: ${reason}`,
  ]);
  await print(tableOf(['id', 'validation', 'mode', 'scope', 'arguments', 'applies'], rows));
  return 0;
}
