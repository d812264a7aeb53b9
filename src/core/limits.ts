/** What may run of something at a time, and how often; what is absent is not limited. */
export interface LimitSetting {
  /** Checks at a time. */
  concurrency?: number | undefined;
  /** Checks that may begin in so many milliseconds; as many may begin at once after a rest. */
  rate?: { count: number; per: number } | undefined;
}

/** Limits by name; `*` holds for each that is not named, each by itself. */
export type LimitsByName = Readonly<Record<string, LimitSetting>>;

export interface LimitSettings {
  projects: LimitsByName;
  validations: LimitsByName;
  scenarios: LimitsByName;
}

/** A limit that holds for a check, under a name that it shares with others. */
export interface Limit extends LimitSetting {
  name: string;
}

/** What limits may hold for. */
export interface Limited {
  project?: string | null;
  validation?: string;
  scenario?: string;
}

/** How a limit stands for one who asks. */
export interface LimitState {
  /** Checks of others that run. */
  held: number;
  /** Checks that may begin now by the rate; infinite where there is none. */
  tokens: number;
  /** Those who ask too, and asked earlier. */
  ahead: number;
}

export const SHORTEST_PAUSE_MS = 200;
/** A look costs little, and those in front are let in first: each place may wait so much longer. */
export const PAUSE_A_PLACE_MS = 100;
export const LONGEST_PAUSE_MS = 60_000;
/** Milliseconds beyond its pause after which one who does not ask again loses its place, until it does. */
export const LATE_MS = 5000;

/** Whether anything is limited at all. */
export function hasLimits(settings: LimitSettings): boolean {
  return Object.values(settings).some((each: LimitsByName) => Object.keys(each).length > 0);
}

/** The limits that hold for a check, in the order of their names. */
export function limitsOn(settings: LimitSettings, check: Limited): Limit[] {
  const found = (kind: string, byName: LimitsByName, name: string | null | undefined): Limit[] => {
    if (name === null || name === undefined) return [];
    const setting = Object.hasOwn(byName, name) ? byName[name] : byName['*'];
    const { concurrency, rate } = setting ?? {};
    return concurrency === undefined && rate === undefined ? [] : [{ name: `${kind}:${name}`, ...setting }];
  };
  return [
    ...found('project', settings.projects, check.project),
    ...found('scenario', settings.scenarios, check.scenario),
    ...found('validation', settings.validations, check.validation),
  ];
}

/** Checks that may begin by a rate: those of before, and what has come since, up to its count. */
export function refilled(rate: LimitSetting['rate'], tokens: number, elapsedMs: number): number {
  if (rate === undefined) return Number.POSITIVE_INFINITY;
  return Math.min(rate.count, tokens + (Math.max(0, elapsedMs) * rate.count) / rate.per);
}

/** Whether one may begin: there is room for it and for all who asked earlier. */
export function mayBegin({ concurrency }: LimitSetting, { held, tokens, ahead }: LimitState): boolean {
  const room = Math.min((concurrency ?? Number.POSITIVE_INFINITY) - held, Math.floor(tokens));
  return ahead < room;
}

/** Milliseconds until one who may not begin asks again: the sooner, the nearer its turn is. */
export function askAgainMs({ rate }: LimitSetting, { tokens, ahead }: LimitState): number {
  const byPlace = Math.max(SHORTEST_PAUSE_MS, PAUSE_A_PLACE_MS * (ahead + 1));
  const lacking = rate === undefined ? 0 : Math.max(0, ahead + 1 - tokens);
  const byRate = rate === undefined ? 0 : Math.ceil((lacking * rate.per) / rate.count);
  return Math.min(LONGEST_PAUSE_MS, Math.max(byPlace, byRate));
}
