import type { BatchDocument } from '../core/document.js';
import type { ReportFactory } from './report.js';
import { count, Style } from './style.js';
import { type Advisory, type FailingEvaluation, type ScenarioSummary, summarize } from './summary.js';
import { TextOut } from './text-out.js';

/** Advisories that a report lists before it only counts them. */
const MAX_ADVISORIES = 20;
/** Failing evaluations that a report shows over all scenarios. */
const MAX_SHOWN = 50;

function rate(passed: number, total: number): string {
  return total === 0
    ? 'no score'
    : `score ${Math.floor((passed * 100) / total)}% (${passed} of ${total} checks)`;
}

function ruleName({ scope, index, label }: Advisory['rule']): string {
  return `${scope}[${index}] ${label}`;
}

function times({ failed, errored }: Advisory): string {
  const parts = [failed > 0 ? `${failed} failed` : '', errored > 0 ? `${errored} errored` : ''];
  return parts.filter((part) => part !== '').join(', ');
}

function advisories(summaries: readonly ScenarioSummary[], style: Style): string {
  const all = summaries.flatMap((s) => [...s.advisories.values()].map((advisory) => ({ s, advisory })));
  if (all.length === 0) return '';
  let text = style.line(0, 'Advisories: informational rules that did not hold', 'warn');
  for (const { s, advisory } of all.slice(0, MAX_ADVISORIES)) {
    text += style.line(2, `${s.scenario}: ${ruleName(advisory.rule)}: ${times(advisory)}`);
    text += style.line(4, `such as ${advisory.run}: ${advisory.message}`, 'dim');
  }
  if (all.length > MAX_ADVISORIES) text += style.line(2, `... and ${all.length - MAX_ADVISORIES} more`);
  return `${text}\n`;
}

function verdict(s: ScenarioSummary): string {
  if (s.total === 1) return s.passed === 1 ? 'passed' : s.errored === 1 ? 'errored' : 'failed';
  return `${s.passed} passed, ${s.failed} failed, ${s.errored} errored of ${s.total}`;
}

function gate(name: 'compliance' | 'resolution', s: ScenarioSummary): string {
  if (s.total > 1) return `${name} gate passed by ${s[name]} of ${s.total}`;
  const { passed, reason } = s.gates[name];
  return `${name} gate ${passed ? 'passed' : 'failed'}: ${reason}`;
}

function head(s: ScenarioSummary, style: Style): string {
  let text = style.line(0, `${s.scenario}: ${verdict(s)}`, s.passed === s.total ? 'good' : 'bad');
  const vacuous = s.vacuous === 0 ? '' : `, ${count(s.vacuous, 'vacuous pass')}`;
  text += style.line(2, `${rate(s.checksPassed, s.checksTotal)}${vacuous}`);
  text += style.line(2, gate('compliance', s));
  text += style.line(2, gate('resolution', s));
  if (s.skipped > 0) text += style.line(2, `${count(s.skipped, 'check')} skipped`, 'dim');
  return text;
}

function evaluation(
  { run, score, errored, gates, results, moreResults }: FailingEvaluation,
  style: Style,
  withGates: boolean,
): string {
  let text = style.line(2, `${errored ? 'ERROR' : 'FAIL'} ${run}: ${rate(score.passed, score.total)}`, 'bad');
  for (const [name, { passed, reason }] of Object.entries(gates)) {
    if (withGates && !passed) text += style.line(4, `${name} gate: ${reason}`);
  }
  for (const { outcome, rule, message, advisory } of results) {
    const kind = advisory ? `${outcome} (advisory)` : outcome;
    text += style.line(4, `${kind} ${ruleName(rule)}: ${message}`, advisory ? 'dim' : undefined);
  }
  return moreResults === 0 ? text : text + style.line(4, `... and ${moreResults} more`);
}

function totals(batch: BatchDocument, style: Style): string {
  const { total, passed, failed, errored, vacuous_passes } = batch;
  const time = `${(batch.duration_ms / 1000).toFixed(1)} s, ${batch.engine} engine`;
  const parts = [
    `${passed} passed`,
    `${failed} failed`,
    `${errored} errored`,
    count(vacuous_passes, 'vacuous pass'),
  ];
  const tone = passed === total ? 'good' : 'bad';
  return style.line(
    0,
    `${count(total, 'evaluation')}: ${parts.join(', ')} (${time}, batch ${batch.id})`,
    tone,
  );
}

/** What a person wants to see after a batch: advisories first (DESIGN 3.4), then the scenarios, then the totals. */
export const text: ReportFactory = (options) => ({
  kind: 'text',
  description: 'A summary for people: advisories, scenarios, failing evaluations and totals',
  order: 'input',
  async write(batch, evaluations, out) {
    const style = new Style(options);
    const summaries = await summarize(evaluations);
    const to = new TextOut(out);
    await to.write(advisories(summaries, style));
    let room = MAX_SHOWN;
    for (const summary of summaries) {
      await to.write(head(summary, style));
      const shown = summary.failing.slice(0, room);
      room -= shown.length;
      for (const one of shown) await to.write(evaluation(one, style, summary.total > 1));
      const more = summary.failed + summary.errored - shown.length;
      if (more > 0) await to.write(style.line(2, `... and ${more} more that did not pass`));
      await to.write('\n');
    }
    await to.write(totals(batch, style));
    await to.flush();
  },
});
