import type { Config } from '../../../config/schema.js';
import { LONGEST_KEPT } from '../../../config/schema.js';
import { Tokens } from '../../app/tokens.js';
import { openFleet } from '../../compose.js';
import { parseDuration } from '../../core/duration.js';
import { isoTime } from '../../core/iso-time.js';
import { type ApiToken, ROLES, type TokenRole } from '../../ports/tokens.js';
import { checkLogLevel, createLog } from '../log.js';
import { choice, type FleetOptions, ProblemList } from '../options.js';
import { plain, print, printJson, say } from '../output.js';
import { loadSettings, requireRedis } from '../redis.js';
import { tableOf } from '../table.js';

interface AddOptions extends FleetOptions {
  role?: string;
  expires?: string;
}

/** A token without what it is known by. */
function tokenDocument({ name, role, createdAt, expiresAt }: ApiToken, now: number) {
  return {
    name,
    role,
    created_at: isoTime(createdAt),
    expires_at: expiresAt === null ? null : isoTime(expiresAt),
    expired: expiresAt !== null && expiresAt <= now,
  };
}

/** Opens the fleet's tokens for one command. */
async function withTokens(
  options: FleetOptions,
  problems: ProblemList,
  create: boolean,
  use: (tokens: Tokens) => Promise<void>,
): Promise<number> {
  const level = (await problems.take(() => checkLogLevel(options.logLevel, 'warn'))) ?? 'warn';
  const settings = await problems.take(() => loadSettings(options));
  problems.throwIfAny('USAGE', 'nothing was done.');
  const config = settings as Config;
  const place = await requireRedis(config, { create });
  const engine = await openFleet(config, place.url, await createLog(level));
  try {
    await use(new Tokens({ tokens: engine.store.tokens, clock: engine.clock }));
  } finally {
    await engine.close();
    await place.release();
  }
  return 0;
}

function lifetimeOf(text: string | undefined, problems: ProblemList): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseDuration(text);
  if (ms !== undefined && ms > 0 && ms <= (parseDuration(LONGEST_KEPT) ?? 0)) return ms;
  const message = `expected a duration such as 12h or 90d, of at most ${LONGEST_KEPT}`;
  problems.add({ code: 'USAGE', path: '--expires', message, found: JSON.stringify(text) });
  return undefined;
}

/** `sluice token add`: prints a new token this once; answers 0. */
export function addToken(name: string, options: AddOptions): Promise<number> {
  const problems = new ProblemList();
  const role = choice('--role', options.role, ROLES, problems);
  if (options.role === undefined)
    problems.add({ code: 'USAGE', path: '--role', message: 'is missing', allowed: [...ROLES] });
  const lifetimeMs = lifetimeOf(options.expires, problems);
  return withTokens(options, problems, true, async (tokens) => {
    const { token, value } = await tokens.add(name, role as TokenRole, lifetimeMs);
    const document = tokenDocument(token, token.createdAt);
    if (options.json) return printJson({ ...document, token: value });
    const end = document.expires_at === null ? '' : ` It ends at ${document.expires_at}.`;
    say(`sluice: token ${name} with the role ${token.role}; it is shown this once.${end}`);
    await print(`${value}\n`);
  });
}

/** `sluice token list`; answers 0. */
export function listTokens(options: FleetOptions): Promise<number> {
  return withTokens(options, new ProblemList(), false, async (tokens) => {
    const found = (await tokens.list()).map((token) => tokenDocument(token, Date.now()));
    if (options.json) return printJson({ tokens: found });
    if (found.length === 0)
      return say('sluice: there is no token; make one with: sluice token add NAME --role ROLE');
    const rows = found.map(({ name, role, created_at, expires_at, expired }) => [
      plain(name),
      role,
      created_at,
      expired ? `ended ${expires_at}` : (expires_at ?? 'never'),
    ]);
    await print(tableOf(['name', 'role', 'made', 'ends'], rows));
  });
}

/** `sluice token remove`: ends a token at once; answers 0. */
export function removeToken(name: string, options: FleetOptions): Promise<number> {
  return withTokens(options, new ProblemList(), false, async (tokens) => {
    await tokens.remove(name);
    if (options.json) await printJson({ removed: name });
    else say(`sluice: token ${name} is not taken any more.`);
  });
}
