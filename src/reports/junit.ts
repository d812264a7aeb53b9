import type { BatchDocument, EvaluationDocument } from '../core/document.js';
import type { RuleResult } from '../core/result.js';
import { GroupedSpool } from './grouped-spool.js';
import type { ReportFactory } from './report.js';
import { TextOut } from './text-out.js';
import { xmlAttributes, xmlText } from './xml.js';

interface Counts {
  tests: number;
  failures: number;
  errors: number;
  skipped: number;
  ms: number;
}

function noCounts(): Counts {
  return { tests: 0, failures: 0, errors: 0, skipped: 0, ms: 0 };
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(3);
}

function attributes({ tests, failures, errors, skipped, ms }: Counts): string {
  return xmlAttributes({ tests, failures, errors, skipped, time: seconds(ms) });
}

function element(name: string, message: string, type: string): string {
  return `<${name}${xmlAttributes({ message, type })}>${xmlText(message)}</${name}>`;
}

function note(text: string): string {
  return `<system-out>${xmlText(text)}</system-out>`;
}

/** An informational result never turns CI red: its case passes, and says what it came to. */
function body({ outcome, mode, message, data, rule }: RuleResult, counts: Counts): string {
  if (outcome === 'skipped') {
    counts.skipped += 1;
    return `<skipped${xmlAttributes({ message })}/>`;
  }
  if (outcome === 'pass') return data.vacuous === true ? note(`vacuous pass: ${message}`) : '';
  if (mode === 'informational') {
    return note(`advisory: ${outcome === 'fail' ? 'failed' : 'error'}: ${message}`);
  }
  if (outcome === 'fail') {
    counts.failures += 1;
    return element('failure', message, rule.validator);
  }
  counts.errors += 1;
  return element('error', message, rule.validator);
}

function testcase(name: string, classname: string, ms: number, inner: string): string {
  const open = `<testcase${xmlAttributes({ name, classname, time: seconds(ms) })}`;
  return inner === '' ? `${open}/>\n` : `${open}>${inner}</testcase>\n`;
}

/** One case for the gates: they may fail though every rule of the evaluation passed. */
function gates({ passed, gates, score }: EvaluationDocument, counts: Counts): string {
  if (passed) return '';
  counts.failures += 1;
  const closed = Object.entries(gates).filter(([, gate]) => !gate.passed);
  const reasons = closed.map(([name, gate]) => `${name} gate: ${gate.reason}`);
  const percent = score.percent === null ? 'no score' : `score ${score.percent}%`;
  return element('failure', [...reasons, percent].join('; '), 'gates');
}

function evaluationCases(evaluation: EvaluationDocument, counts: Counts): string {
  const classname = `${evaluation.scenario}.${evaluation.run}`;
  let cases = '';
  for (const result of evaluation.results) {
    const { scope, index, label } = result.rule;
    cases += testcase(`${scope}[${index}] ${label}`, classname, result.duration_ms, body(result, counts));
    counts.ms += result.duration_ms;
  }
  counts.tests += evaluation.results.length + 1;
  return cases + testcase('gates', classname, 0, gates(evaluation, counts));
}

function total(batch: BatchDocument, suites: Iterable<Counts>): Counts {
  const sum = { ...noCounts(), ms: batch.duration_ms };
  for (const counts of suites) {
    sum.tests += counts.tests;
    sum.failures += counts.failures;
    sum.errors += counts.errors;
    sum.skipped += counts.skipped;
  }
  return sum;
}

/** JUnit XML for CI: a suite a scenario, a case a rule result, and one case an evaluation for its gates. */
export const junit: ReportFactory = () => ({
  kind: 'junit',
  description: 'JUnit XML for CI: a suite for each scenario, a case for each rule and for the gates',
  order: 'input',
  async write(batch, evaluations, out) {
    const spool = new GroupedSpool();
    const suites = new Map<string, Counts>();
    try {
      for await (const evaluation of evaluations) {
        const counts = suites.get(evaluation.scenario) ?? noCounts();
        suites.set(evaluation.scenario, counts);
        await spool.add(evaluation.scenario, evaluationCases(evaluation, counts));
      }
      const text = new TextOut(out);
      const name = `sluice ${batch.id}`;
      await text.write('<?xml version="1.0" encoding="UTF-8"?>\n');
      await text.write(
        `<testsuites${xmlAttributes({ name })}${attributes(total(batch, suites.values()))}>\n`,
      );
      for (const [scenario, counts] of suites) {
        await text.write(`<testsuite${xmlAttributes({ name: scenario })}${attributes(counts)}>\n`);
        for await (const piece of spool.read(scenario)) await text.write(piece);
        await text.write('</testsuite>\n');
      }
      await text.write('</testsuites>\n');
      await text.flush();
    } finally {
      await spool.remove();
    }
  },
});
