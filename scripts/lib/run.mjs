import { spawn } from 'node:child_process';
import { ROOT } from './paths.mjs';

/** Runs Node with inherited output; the exit code, or 128 + n for a signal. Ctrl-C is the child's to answer. */
export function runNode(args, env = process.env) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' });
    const pass = (signal) => child.kill(signal);
    const ignore = () => {};
    process.on('SIGINT', ignore);
    process.on('SIGTERM', pass);
    child.on('error', reject);
    child.on('close', (code, signal) => {
      process.off('SIGINT', ignore);
      process.off('SIGTERM', pass);
      resolve(code ?? 128 + (signal === 'SIGINT' ? 2 : 15));
    });
  });
}
