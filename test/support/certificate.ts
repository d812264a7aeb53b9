import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A certificate that signs itself, with its key: files and their content, PEM. */
export interface TestCertificate {
  certFile: string;
  keyFile: string;
  cert: string;
  key: string;
  remove(): Promise<void>;
}

/** Makes a certificate for these hosts (`DNS:name`, `IP:address`) with openssl. */
export async function makeCertificate(
  names: readonly string[] = ['DNS:localhost', 'IP:127.0.0.1'],
): Promise<TestCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'sluice-certificate-'));
  const [certFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=sluice test', '-addext', `subjectAltName=${names.join(',')}`];
  await run('openssl', [
    'req',
    '-x509',
    ...curve,
    ...subject,
    '-days',
    '2',
    '-keyout',
    keyFile,
    '-out',
    certFile,
  ]);
  const [cert, key] = await Promise.all([readFile(certFile, 'utf8'), readFile(keyFile, 'utf8')]);
  return { certFile, keyFile, cert, key, remove: () => rm(folder, { recursive: true, force: true }) };
}
