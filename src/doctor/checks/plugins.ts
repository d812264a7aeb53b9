import { listed } from '../../core/listed.js';
import { type DoctorCheck, type Finding, ok, warn } from '../check.js';

const FOR_AUTHORS =
  'Its validations are run by no worker with these settings; see “Plugins” in docs/validators.md.';

const TO_REGISTER = 'To register them: sluice tool discover --plugins | sluice validation add -';

/** One finding for each module of the settings: what it brings, or why it does not load. */
export const pluginsCheck: DoctorCheck = {
  name: 'plugins',
  async run({ plugins }) {
    if (plugins === undefined) return [];
    try {
      const { validations, broken } = await plugins();
      const modules = [...new Set(validations.map(({ module }) => module))];
      return [
        ...modules.map((module): Finding => {
          const own = validations.filter((each) => each.module === module);
          return ok(`${module} brings ${listed(own, ({ name }) => name, { most: 10 })}`, TO_REGISTER);
        }),
        ...broken.map(({ module, reason }) => warn(`${module} does not load: ${reason}`, FOR_AUTHORS)),
      ];
    } catch (error) {
      return [warn(`the plugins could not be looked at: ${(error as Error).message}`, FOR_AUTHORS)];
    }
  },
};
