import { type DoctorCheck, fail, ok } from '../check.js';

const OLDEST: readonly [number, number] = [20, 20];

/** Whether a Node version is at least 20.20. */
export function isSupportedNode(version: string): boolean {
  const [major = 0, minor = 0] = version.replace(/^v/, '').split('.').map(Number);
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

export const nodeCheck: DoctorCheck = {
  name: 'node',
  async run() {
    const found = `Node ${process.versions.node}`;
    return [isSupportedNode(process.versions.node) ? ok(found) : fail(found, 'Install Node 20.20 or newer.')];
  },
};
