#!/usr/bin/env node
import { endGently, run } from './run.js';

endGently(await run(process.argv.slice(2)));
