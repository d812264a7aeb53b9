// Two documents of `evaluate --json` over the same input: the fleet's must add up, must have been judged by
// workers, and must say what the other says. Ansible rules depend on the machine and are left out.
import { readFileSync } from 'node:fs';

const [fleet, other] = process.argv.slice(2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const problems = [];
const { total, passed, failed, errored, engine } = fleet.batch;

if (engine !== 'fleet') problems.push(`the first batch was judged by ${engine}, not by a fleet`);
if (total === 0) problems.push('the batch is empty');
if (passed + failed + errored !== total) problems.push(`${passed} + ${failed} + ${errored} is not ${total}`);
if (fleet.evaluations.length !== total) problems.push(`${fleet.evaluations.length} evaluations of ${total}`);

const outcomes = ({ evaluations }) =>
  evaluations.map(({ run, scenario, results }) => ({
    run,
    scenario,
    results: results
      .filter(({ rule }) => rule.validator !== 'ansible')
      .map(({ validation, outcome }) => ({ validation, outcome })),
  }));
if (JSON.stringify(outcomes(fleet)) !== JSON.stringify(outcomes(other)))
  problems.push('the two batches disagree');

const workers = new Set(fleet.evaluations.flatMap(({ results }) => results.map(({ worker }) => worker)));
workers.delete(null);
if (workers.size === 0) problems.push('no result names a worker');

for (const problem of problems) console.error(problem);
if (problems.length === 0) {
  console.error(
    `${total} evaluations: ${passed} passed, ${failed} failed, ${errored} errored, by ${[...workers].join(', ')}`,
  );
}
process.exitCode = problems.length === 0 ? 0 : 1;
