/** What the command line prints of the API that `serve` offers. */
export { describeApi } from '../src/http/describe.js';
