import type { AnsibleOutcome, AnsibleRequest, RunFailure } from '../core/validators/validator.js';

/** The files of a scenario that runners need: path inside the scenario's folder to base64 content. */
export interface Bundle {
  files: Readonly<Record<string, string>>;
}

/** Runs playbooks of a bundle. A bad exit is an outcome, not an exception. */
export interface AnsibleRunner {
  /** Whether results may say `enforced`. */
  readonly readOnly: 'enforced' | 'declared';
  run(request: AnsibleRequest, bundle: Bundle, signal: AbortSignal): Promise<AnsibleOutcome | RunFailure>;
}
