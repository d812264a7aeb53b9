import { endpointCheck } from '../endpoints.js';

/** Whether each source of the settings can be used as it is set. */
export const sourcesCheck = endpointCheck({
  name: 'sources',
  one: 'source',
  opener: 'server',
  more: 'What it brought and could not be taken: sluice dead-letters list',
});
