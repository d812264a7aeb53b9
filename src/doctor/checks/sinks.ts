import { endpointCheck } from '../endpoints.js';

/** Whether each sink of the settings can be used as it is set. */
export const sinksCheck = endpointCheck({
  name: 'sinks',
  one: 'sink',
  opener: 'dispatcher',
  more: 'Whether it delivers: sluice sinks list',
});
