import { failure } from '../../core/failure.js';
import { show } from '../../core/problem.js';
import { bundlePathProblem } from '../../core/validators/bundle-path.js';
import type { AnsibleRequest, RunFailure } from '../../core/validators/validator.js';
import type { Bundle } from '../../ports/runner.js';
import { OURS } from './callback.js';

/** Variables of Ansible's own that a run may set: where a host is, not what is done there. */
const CONNECTION_VARS = ['ansible_host', 'ansible_port', 'ansible_user'];
const RESERVED = /^ansible_/;

function filePathProblem(path: string): string | undefined {
  if (path.includes('\u0000')) return 'holds a NUL character';
  const segments = path.split('/');
  // A leading "/" is an empty segment too.
  if (segments.some((segment) => ['', '.', '..'].includes(segment)))
    return 'leaves its folder or is not in normal form';
  return segments[0] === OURS ? `lies in ${OURS}, which is for files of Sluice` : undefined;
}

/** The files of a bundle by path, or what is wrong with one: it may have come from anywhere. */
export function filesOf(bundle: Bundle): Map<string, Uint8Array> | RunFailure {
  const files = new Map<string, Uint8Array>();
  for (const [path, content] of Object.entries(bundle.files)) {
    const problem = filePathProblem(path);
    if (problem !== undefined) return failure('bad_bundle', `a file of the bundle ${problem}: ${show(path)}`);
    files.set(path, Buffer.from(content, 'base64'));
  }
  return files;
}

function hostsProblem(hosts: string): string | undefined {
  if (/[\u0000-\u001f]/.test(hosts)) return 'holds control characters';
  const parts = hosts.split(/[,:]/).map((part) => part.trim());
  if (parts.every((part) => part === '')) return 'is empty';
  // `--limit @file` would read a file.
  return parts.some((part) => part.startsWith('@')) ? 'must not name a file by "@"' : undefined;
}

/** What is wrong with a request: the evidence, which names hosts and variables, is not trusted. */
export function requestProblem({
  playbook,
  inventory,
  hosts,
  runVars,
}: AnsibleRequest): RunFailure | undefined {
  for (const [field, path] of Object.entries({ playbook, inventory })) {
    const problem = path === undefined ? undefined : bundlePathProblem(path);
    if (problem !== undefined) return failure('authoring', `the ${field} ${show(path)} ${problem}`);
  }
  const problem = hosts === undefined ? undefined : hostsProblem(hosts);
  if (problem !== undefined) return failure('target', `the run’s host pattern ${show(hosts)} ${problem}`);
  const names = Object.keys(runVars ?? {});
  const refused = names.find((name) => RESERVED.test(name) && !CONNECTION_VARS.includes(name));
  if (refused === undefined) return undefined;
  const allowed = CONNECTION_VARS.join(', ');
  return failure(
    'target',
    `${show(refused)} must not come from a run or an argument; of Ansible’s own variables these may: ${allowed}`,
  );
}
