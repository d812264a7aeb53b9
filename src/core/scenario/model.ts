/** The three groups of rules in `validation` (SV, Structure). */
export const SCOPES = ['gateway', 'job', 'tasks'] as const;
export type Scope = (typeof SCOPES)[number];

/** One rule of a scenario, checked and with its defaults filled in. */
export interface Rule {
  scope: Scope;
  /** Position within its scope, from 0. */
  index: number;
  label: string;
  /** Name of a built-in validator; aliases are already resolved. */
  validator: string;
  required: boolean;
  negate: boolean;
  /** The validator's own fields, as its schema gave them. */
  params: Readonly<Record<string, unknown>>;
}

/** A scenario after loading: nothing in it can be wrong any more. */
export interface Scenario {
  key: string;
  title?: string;
  /** In the order of results: gateway, job, tasks (DESIGN 8). */
  rules: Rule[];
  /** Digest of the bundle with the files that runners need; absent when no rule needs any. */
  bundle?: string;
  /** SHA-256 of everything above (see `scenarioDigest`). */
  digest: string;
}

/** Name of the validation that wraps a rule: `scenario/r<scenario digest>-<scope>-<index>` (DESIGN 8). */
export function validationName(scenario: Pick<Scenario, 'digest'>, rule: Rule): string {
  return `scenario/r${scenario.digest}-${rule.scope}-${rule.index}`;
}
