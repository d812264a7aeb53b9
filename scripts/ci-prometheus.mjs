// ci-prometheus.mjs URL BATCH: waits until Prometheus has the decisions of a batch from all six targets of a fleet
// with two workers, and no rule of the alerts is broken.
import { readFileSync } from 'node:fs';

const [url, file] = process.argv.slice(2);
const LONGEST_MS = 60_000;
const TARGETS = 6;

async function ask(path) {
  const response = await fetch(new URL(path, url));
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return (await response.json()).data;
}

async function value(query) {
  const { result } = await ask(`/api/v1/query?query=${encodeURIComponent(query)}`);
  return Number(result[0]?.value[1] ?? 0);
}

const { total } = JSON.parse(readFileSync(file, 'utf8')).batch;
const until = Date.now() + LONGEST_MS;
for (;;) {
  const found = await Promise.all([value('sum(up)'), value('sum(sluice_decisions_total)')]).catch((error) => [
    error.message,
  ]);
  if (found[0] === TARGETS && found[1] === total) break;
  if (Date.now() > until) {
    console.error(`expected ${TARGETS} targets and ${total} decisions, found ${found}`);
    process.exit(1);
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
const { groups } = await ask('/api/v1/rules');
const broken = groups.flatMap(({ rules }) => rules.filter(({ health }) => health === 'err'));
for (const { name, lastError } of broken) console.error(`${name}: ${lastError}`);
console.error(
  `${TARGETS} targets, ${total} decisions, ${groups.flatMap(({ rules }) => rules).length} alerts`,
);
process.exitCode = broken.length === 0 ? 0 : 1;
