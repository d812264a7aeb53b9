import { type DoctorCheck, type Finding, fail, ok, type SinkFacts, warn } from '../check.js';

const USE = 'No dispatcher starts with it: see sinks in the settings.';
const SECRETS = 'A dispatcher on this machine does not start without it.';

function judge({ shown, problems, missing }: SinkFacts): Finding[] {
  if (problems.length === 0 && missing.length === 0)
    return [ok(`the sink ${shown} can be used as it is set`, 'Whether it delivers: sluice sinks list')];
  return [
    ...problems.map((problem) => fail(`the sink ${shown} cannot be used: ${problem}`, USE)),
    ...missing.map((what) => warn(`the sink ${shown} lacks a secret or certificate: ${what}`, SECRETS)),
  ];
}

/** Whether each sink of the settings can be used as it is set; nothing is connected to. */
export const sinksCheck: DoctorCheck = {
  name: 'sinks',
  async run({ sinks }) {
    if (sinks === undefined) return [];
    try {
      return (await sinks()).flatMap(judge);
    } catch (error) {
      return [warn(`the sinks of the settings cannot be looked at: ${(error as Error).message}`, USE)];
    }
  },
};
