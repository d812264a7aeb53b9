import type { CheckStatus, DoctorOptions, DoctorReport } from './check.js';
import { DOCTOR_CHECKS } from './registry.js';

const RANK: readonly CheckStatus[] = ['ok', 'warn', 'fail'];

/**
 * Looks at everything that Sluice needs from this machine (DESIGN 8, `doctor`). Never throws, and ends
 * within about 15 s: what cannot be found out is a finding.
 */
export async function runDoctor(
  options: Omit<DoctorOptions, 'env'> & { env?: NodeJS.ProcessEnv },
): Promise<DoctorReport> {
  const complete = { ...options, env: options.env ?? process.env };
  const groups = await Promise.all(
    DOCTOR_CHECKS.map(async ({ name, run }) =>
      (await run(complete)).map((finding) => ({ name, ...finding })),
    ),
  );
  const checks = groups.flat();
  const worst = Math.max(...checks.map((check) => RANK.indexOf(check.status)));
  return { status: RANK[worst] ?? 'ok', checks };
}
