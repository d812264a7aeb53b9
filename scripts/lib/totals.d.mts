interface VitestReport {
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

export function totals(
  report: VitestReport | undefined,
  exitCode: number,
): { passed: number; failed: number; skipped: number };
