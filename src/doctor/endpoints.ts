import { type DoctorCheck, type DoctorOptions, type EndpointFacts, fail, ok, warn } from './check.js';

/** What a check of sinks or sources says. */
export interface EndpointWords {
  name: 'sinks' | 'sources';
  /** `sink`, or `source`. */
  one: string;
  /** Who opens them. */
  opener: string;
  /** Where more can be seen. */
  more: string;
}

/** Whether each sink or source of the settings can be used as it is set; nothing is connected to. */
export function endpointCheck({ name, one, opener, more }: EndpointWords): DoctorCheck {
  const use = `No ${opener} starts with it: see ${name} in the settings.`;
  const secrets = `A ${opener} on this machine does not start without it.`;
  const judge = ({ shown, problems, missing }: EndpointFacts) =>
    problems.length === 0 && missing.length === 0
      ? [ok(`the ${one} ${shown} can be used as it is set`, more)]
      : [
          ...problems.map((problem) => fail(`the ${one} ${shown} cannot be used: ${problem}`, use)),
          ...missing.map((what) =>
            warn(`the ${one} ${shown} lacks a secret or certificate: ${what}`, secrets),
          ),
        ];
  return {
    name,
    async run(options: DoctorOptions) {
      const look = options[name];
      if (look === undefined) return [];
      try {
        return (await look()).flatMap(judge);
      } catch (error) {
        return [warn(`the ${name} of the settings cannot be looked at: ${(error as Error).message}`, use)];
      }
    },
  };
}
