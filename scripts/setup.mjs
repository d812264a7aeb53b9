/** Set-up for everything that runs from a checkout. Node built-ins only: it runs before `npm ci`. */
export { ensureBuild } from './lib/build.mjs';
export { ensureDependencies } from './lib/dependencies.mjs';
export {
  aptInstall,
  ensureAnsible,
  ensureBrokers,
  ensureBubblewrap,
  ensurePromtool,
  ensureRedis,
} from './lib/system.mjs';
