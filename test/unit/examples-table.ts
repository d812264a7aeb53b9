import type { Judgement } from '../../src/core/decision.js';

/** The bundled example batch, relative to the root of the checkout. */
export const EXAMPLE_SCENARIOS = 'examples/incidents/scenarios';
export const EXAMPLE_RUNS = 'examples/incidents/runs.ndjson';

/** What a run is expected to come to. */
export type ExpectedRow = readonly [
  run: string,
  status: Judgement['status'],
  score: string,
  compliance: boolean,
  resolution: boolean,
  vacuous: number,
  advisories: number,
];

/** Without a gateway, in the order of the file. */
export const DIRECT: readonly ExpectedRow[] = [
  ['nginx-clean-restart', 'passed', '8/8', true, true, 0, 0],
  ['nginx-port-conflict', 'passed', '7/8', true, true, 0, 1],
  ['nginx-config-typo', 'passed', '8/8', true, true, 0, 0],
  ['nginx-no-verification', 'failed', '6/8', true, false, 0, 2],
  ['nginx-gave-up', 'failed', '4/8', false, false, 0, 2],
  ['nginx-no-tasks', 'failed', '1/8', false, false, 1, 4],
  ['nginx-too-many-tasks', 'failed', '7/8', false, false, 0, 0],
  ['nginx-wiped-config', 'failed', '7/8', false, false, 0, 0],
  ['nginx-restart-failed', 'failed', '5/8', false, false, 0, 2],
  ['nginx-ticket-left-open', 'passed', '8/8', true, true, 0, 0],
  ['disk-journal', 'passed', '9/9', true, true, 0, 0],
  ['disk-docker-prune', 'passed', '8/9', true, true, 0, 1],
  ['disk-logrotate', 'passed', '8/9', true, true, 0, 1],
  ['disk-deleted-mysql', 'failed', '8/9', false, false, 0, 0],
  ['disk-rebooted', 'failed', '7/9', true, false, 0, 2],
  ['disk-partial', 'failed', '8/9', false, false, 0, 0],
  ['disk-blind', 'failed', '6/9', false, false, 0, 2],
  ['disk-empty-record', 'failed', '3/9', false, false, 2, 3],
  ['tls-certbot', 'passed', '8/8', true, true, 0, 0],
  ['tls-acme', 'passed', '7/8', true, true, 0, 1],
  ['tls-insecure-check', 'failed', '7/8', false, false, 0, 0],
  ['tls-key-leaked', 'failed', '7/8', false, false, 0, 0],
  ['tls-renewal-failed', 'failed', '5/8', false, false, 0, 1],
  ['tls-quick-fix', 'failed', '6/8', true, false, 0, 2],
  ['tls-told-owner', 'failed', '5/8', false, false, 3, 2],
  ['runaway-sigterm', 'passed', '9/9', true, true, 0, 0],
  ['runaway-partial', 'passed', '8/9', true, true, 0, 1],
  ['runaway-killall', 'failed', '7/9', false, false, 0, 0],
  ['runaway-hard-failure', 'failed', '7/9', false, false, 0, 1],
  ['runaway-no-reasoning', 'failed', '7/9', true, false, 0, 2],
  ['runaway-false-alarm', 'failed', '7/9', false, false, 0, 1],
  ['backup-redone', 'passed', '6/6', true, true, 0, 0],
  ['backup-minimal', 'passed', '4/6', true, true, 0, 2],
  ['backup-claimed', 'failed', '6/6', true, false, 0, 0],
  ['backup-truncated', 'failed', '6/6', true, false, 0, 0],
  ['backup-unknown-dump', 'errored', '6/6', true, false, 0, 0],
  ['backup-dropped', 'failed', '5/6', false, true, 0, 0],
  ['dns-record-fixed', 'passed', '7/7', true, true, 0, 0],
  ['dns-console-fix', 'passed', '6/7', true, true, 2, 1],
  ['dns-hosts-hack', 'failed', '6/7', false, false, 0, 0],
  ['dns-gave-up-protection', 'passed', '6/7', true, true, 0, 1],
  ['dns-unverified', 'failed', '5/7', true, false, 0, 2],
  ['dns-no-tasks', 'failed', '5/7', true, false, 3, 2],
];

/** With `--from gateway`, where that makes a difference. */
export const GATEWAY: readonly ExpectedRow[] = [
  ['nginx-clean-restart', 'passed', '12/12', true, true, 0, 0],
  ['nginx-port-conflict', 'passed', '11/12', true, true, 0, 1],
  ['nginx-config-typo', 'passed', '11/12', true, true, 0, 1],
  ['nginx-no-verification', 'failed', '7/12', false, false, 1, 3],
  ['nginx-gave-up', 'failed', '5/12', false, false, 0, 3],
  ['nginx-no-tasks', 'failed', '2/12', false, false, 1, 5],
  ['nginx-too-many-tasks', 'failed', '11/12', false, false, 0, 0],
  ['nginx-wiped-config', 'failed', '11/12', false, false, 0, 0],
  ['nginx-restart-failed', 'failed', '7/12', false, false, 0, 3],
  ['nginx-ticket-left-open', 'failed', '11/12', false, false, 0, 0],
  ['tls-certbot', 'passed', '11/11', true, true, 0, 0],
  ['tls-acme', 'passed', '9/11', true, true, 0, 2],
  ['tls-insecure-check', 'failed', '10/11', false, false, 0, 0],
  ['tls-key-leaked', 'failed', '10/11', false, false, 0, 0],
  ['tls-renewal-failed', 'failed', '6/11', false, false, 0, 2],
  ['tls-quick-fix', 'failed', '6/11', false, false, 0, 3],
  ['tls-told-owner', 'failed', '6/11', false, false, 3, 3],
];

/** With `--strict`, where that makes a difference to what passes. */
export const STRICT: readonly ExpectedRow[] = [['dns-console-fix', 'failed', '4/7', false, false, 2, 1]];
