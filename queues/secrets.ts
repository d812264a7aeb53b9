import { readFile } from 'node:fs/promises';
import { SluiceError } from '../src/core/problem.js';
import type { SecretReader } from '../src/core/secret.js';

/** Reads secrets from the environment and from files as they stand now, so that they can be rotated. */
export const readSecret: SecretReader = async (secret) => {
  if ('env' in secret) {
    const value = process.env[secret.env];
    if (value !== undefined && value !== '') return value;
    throw new SluiceError('SECRET_MISSING', `The variable ${secret.env} of the environment is not set.`);
  }
  const text = await readFile(secret.file, 'utf8').catch((error: Error) => {
    throw new SluiceError('SECRET_MISSING', `The secret cannot be read: ${error.message}`);
  });
  const value = text.replace(/\r?\n$/, '');
  if (value === '') throw new SluiceError('SECRET_MISSING', `The file ${secret.file} is empty.`);
  return value;
};
