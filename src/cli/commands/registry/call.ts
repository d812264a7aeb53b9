import type { ToolAnswer, ToolInput } from '../../../app/tools.js';
import { registryOf, toolCallerOf } from '../../../compose.js';
import { resourceProblem } from '../../../core/attachments/resource.js';
import { nearestName, type Problem, SluiceError } from '../../../core/problem.js';
import { inputSchemaOf } from '../../../core/registry/closure.js';
import { schemaProblems } from '../../../core/registry/json-schema.js';
import { fullName } from '../../../core/registry/lookup.js';
import { isSkill, type ResolvedTool } from '../../../core/registry/model.js';
import { readEvidence } from '../../../inputs/snapshots.js';
import type { Ran } from '../../../ports/runner.js';
import { type Asked, type AskerOptions, withFleet } from '../../asker.js';
import { type GivenWords, misplacedNames, readArguments } from '../../given-arguments.js';
import { onInterrupt } from '../../interrupt.js';
import { ProblemList } from '../../options.js';
import { plain, print, printJson, say } from '../../output.js';

const NOT_CALLED = 'nothing was called.';

export interface CallOptions extends AskerOptions {
  args?: string;
  subject?: string;
  resource?: string;
  slot?: string;
}

async function readSubject(what: string | undefined, problems: ProblemList): Promise<unknown> {
  if (what === undefined) return null;
  const read = await readEvidence(what);
  if ('value' in read) return read.value;
  const at = (path: string) => (path === '' ? '--subject' : `--subject: ${path}`);
  problems.add(...read.problems.map((problem) => ({ ...problem, path: at(problem.path) })));
  return null;
}

function checkResource(resource: string | undefined, problems: ProblemList): void {
  const message = resource === undefined ? undefined : resourceProblem(resource);
  if (message !== undefined)
    problems.add({ code: 'BAD_RESOURCE', path: '--resource', message, found: String(resource) });
}

/** What was returned, as JSON. */
function document(
  tool: ResolvedTool,
  { outcome: answer, readOnly }: Ran<ToolAnswer>,
): Record<string, unknown> {
  const about = { tool: tool.chain[0]?.name, kind: answer.kind, read_only: readOnly };
  if (answer.kind === 'value') return { ...about, value: answer.value };
  if (answer.kind === 'failure') {
    const { reason, message, data } = answer;
    return { ...about, reason, message, ...(data === undefined ? {} : { data }) };
  }
  const { outcome, message, data } = answer.verdict;
  return { ...about, outcome, passed: outcome === 'pass', message, data };
}

/** A text of many lines that steers no terminal; `--json` has it as it is. */
const harmless = (text: string) => text.split('\n').map(plain).join('\n');

/** What was returned, for people: a text as it is, anything else as JSON. */
function words(answer: ToolAnswer): string {
  const json = (value: unknown) => JSON.stringify(value, null, 2) ?? 'null';
  if (answer.kind === 'value')
    return typeof answer.value === 'string' ? `${harmless(answer.value)}\n` : `${json(answer.value)}\n`;
  if (answer.kind === 'failure') {
    const { message, reason, data } = answer;
    return `error: ${plain(message)} (${reason})\n${data === undefined ? '' : `${json(data)}\n`}`;
  }
  const { outcome, message, data } = answer.verdict;
  return `${outcome}: ${plain(message)}\n${Object.keys(data).length === 0 ? '' : `${json(data)}\n`}`;
}

const isGood = (answer: ToolAnswer): boolean =>
  answer.kind === 'value' || (answer.kind === 'verdict' && answer.verdict.outcome === 'pass');

interface Call {
  given: GivenWords;
  options: CallOptions;
  subject: unknown;
}

async function inputOf(tool: ResolvedTool, { given, options, subject }: Call): Promise<ToolInput> {
  const problems = new ProblemList();
  const schema = inputSchemaOf(tool);
  const args = await readArguments(schema, options.args, given, problems);
  if (problems.problems.length === 0) problems.add(...schemaProblems(schema, args, 'arguments'));
  problems.throwIfAny('USAGE', NOT_CALLED);
  return { args, subject, resource: options.resource ?? null, slot: options.slot ?? null };
}

async function run({ engine }: Asked, tool: ResolvedTool, call: Call): Promise<number> {
  const input = await inputOf(tool, call);
  const interrupt = onInterrupt(() => say('sluice: interrupted; ending the call'));
  const caller = await toolCallerOf(engine);
  try {
    const ran = await caller.call(tool, input, interrupt.signal).catch((error: unknown) => {
      throw interrupt.signal.aborted ? new SluiceError('INTERRUPTED', 'The call was interrupted.') : error;
    });
    if (call.options.json) await printJson(document(tool, ran));
    else await print(words(ran.outcome));
    return isGood(ran.outcome) ? 0 : 1;
  } finally {
    interrupt.dispose();
    await caller.close();
  }
}

async function prepared<T>(
  names: Readonly<Record<string, string>>,
  given: GivenWords,
  options: CallOptions,
  work: (asked: Asked, call: Call) => Promise<T>,
): Promise<T> {
  const problems = new ProblemList();
  misplacedNames(names, problems);
  checkResource(options.resource, problems);
  const subject = await readSubject(options.subject, problems);
  return withFleet(options, 'read', problems, NOT_CALLED, (asked) =>
    work(asked, { given, options, subject }),
  );
}

/** `sluice tool call NAME`; answers 0 for a value or a pass, 1 else. Throws NOT_FOUND or USAGE. */
export function callTool(name: string, given: GivenWords, options: CallOptions): Promise<number> {
  return prepared({ name }, given, options, async (asked, call) =>
    run(asked, await registryOf(asked.engine).tool(name), call),
  );
}

function notInSkill(skill: string, tool: string, tools: readonly string[]): SluiceError {
  const nearest = nearestName(fullName(tool), tools);
  const problem: Problem = {
    code: 'NOT_IN_SKILL',
    path: 'tool',
    message: `is not in the skill ${skill}`,
    found: fullName(tool),
    allowed: [...tools],
    ...(nearest === undefined ? {} : { nearest }),
  };
  return new SluiceError('NOT_FOUND', `1 problem; ${NOT_CALLED}`, [problem]);
}

/** `sluice skill call SKILL TOOL`: as `tool call`, for what is in the skill. */
export function callInSkill(
  skill: string,
  tool: string,
  given: GivenWords,
  options: CallOptions,
): Promise<number> {
  return prepared({ skill, tool }, given, options, async (asked, call) => {
    const registry = registryOf(asked.engine);
    const { document } = (await registry.entry('skill', skill)).entry;
    const tools = isSkill(document) ? document.tools : [];
    if (!tools.includes(fullName(tool))) throw notInSkill(document.name, tool, tools);
    return run(asked, await registry.tool(tool), call);
  });
}
