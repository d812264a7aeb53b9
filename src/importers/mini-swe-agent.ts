import { field, hasText, isText, list, messageText } from './fields.js';
import type { ImportedRun, Importer } from './importer.js';

const BLOCK = /```(?:mswea_bash_command|bash|sh)[ \t]*\r?\n([\s\S]*?)\r?\n?```/g;
const RETURN_CODE = /<returncode>\s*(-?\d+)\s*<\/returncode>/;

interface Step {
  commands: string[];
  thought: string;
  /** Ids by which results name the commands; undefined where the command is a fenced block. */
  calls: (string | undefined)[];
}

/** The agent refuses a message with two blocks or none, so such a message ran nothing. */
function step(message: unknown): Step {
  const text = messageText(field(message, 'content'));
  const actions = list(field(field(message, 'extra'), 'actions')).filter((a) => isText(field(a, 'command')));
  const thought = text.replace(BLOCK, '').trim();
  if (actions.length > 0) {
    return {
      commands: actions.map((action) => String(field(action, 'command'))),
      thought,
      calls: actions
        .map((action) => field(action, 'tool_call_id'))
        .map((id) => (isText(id) ? id : undefined)),
    };
  }
  const blocks = [...text.matchAll(BLOCK)].map((match) => (match[1] ?? '').trim()).filter(hasText);
  return blocks.length === 1
    ? { commands: blocks, thought, calls: [undefined] }
    : { commands: [], thought, calls: [] };
}

function returnCode(message: unknown): number | null {
  const recorded = field(field(message, 'extra'), 'returncode');
  if (Number.isSafeInteger(recorded)) return recorded as number;
  const printed = RETURN_CODE.exec(messageText(field(message, 'content')))?.[1];
  const code = printed === undefined ? Number.NaN : Number(printed);
  return Number.isSafeInteger(code) ? code : null;
}

interface Transcript {
  description: string | undefined;
  commands: string[];
  exitCodes: (number | null)[];
  thoughts: string[];
}

function read(messages: unknown[]): Transcript {
  const found: Transcript = { description: undefined, commands: [], exitCodes: [], thoughts: [] };
  let open: { index: number; call: string | undefined }[] = [];
  for (const message of messages) {
    const role = field(message, 'role');
    if (role === 'assistant') {
      const { commands, thought, calls } = step(message);
      open = commands.map((_, i) => ({ index: found.commands.length + i, call: calls[i] }));
      found.commands.push(...commands);
      found.exitCodes.push(...commands.map(() => null));
      if (thought !== '') found.thoughts.push(thought);
      continue;
    }
    if (role === 'user' && found.description === undefined) {
      found.description = messageText(field(message, 'content'));
      continue;
    }
    const call = field(message, 'tool_call_id');
    const at = open.findIndex((waiting) => call === undefined || waiting.call === call);
    const [answered] = at < 0 ? [] : open.splice(at, 1);
    if (answered !== undefined) found.exitCodes[answered.index] = returnCode(message);
  }
  return found;
}

/** `Submitted` does not say that the work is right; exceptions other than a limit are hard failures. */
export function miniSweAgentStatus(exitStatus: unknown, submission: unknown): string | undefined {
  if (!hasText(exitStatus)) return undefined;
  if (exitStatus === 'Submitted') return hasText(submission) ? undefined : 'agentic_failure';
  return /Limit|TimeExceeded|FormatError|UserInterruption/.test(exitStatus)
    ? 'agentic_failure'
    : 'hard_failure';
}

function* runs(value: unknown, fileStem: string): Iterable<ImportedRun> {
  const info = field(value, 'info');
  const transcript = read(Array.isArray(value) ? value : list(field(value, 'messages')));
  const known = transcript.exitCodes.some((code) => code !== null);
  yield {
    path: '',
    run: {
      id: `${fileStem}/0`,
      job: {
        resolution_status: miniSweAgentStatus(field(info, 'exit_status'), field(info, 'submission')),
        resolution: field(info, 'submission'),
      },
      tasks: [
        {
          id: '0',
          description: transcript.description,
          commands: transcript.commands,
          exit_codes: known ? transcript.exitCodes : undefined,
          messages: transcript.thoughts,
        },
      ],
    },
  };
}

function isChat(value: unknown): boolean {
  const first = list(value)[0];
  return isText(field(first, 'role')) && field(first, 'content') !== undefined;
}

/** mini-swe-agent's transcripts: a list of messages, or an object that holds it; one run a file. */
export const miniSweAgent: Importer = {
  name: 'mini-swe-agent',
  description: 'mini-swe-agent transcripts: a list of messages, or an object with `messages` and `info`',
  sniff(value) {
    if (Array.isArray(value)) return isChat(value);
    const format = field(value, 'trajectory_format');
    const named = isText(format) && format.startsWith('mini-swe-agent');
    return (
      isChat(field(value, 'messages')) && (named || field(field(value, 'info'), 'exit_status') !== undefined)
    );
  },
  runs,
};
