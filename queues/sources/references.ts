import { SluiceError, show } from '../../src/core/problem.js';
import type { ReferenceReader } from '../../src/ports/references.js';
import { GuardedClient, type Resolve, type TlsContent } from '../http/client.js';
import { readFileReference } from '../references/files.js';
import { allowedHost, readHostReference } from '../references/hosts.js';
import { badReference, textOf } from '../references/text.js';

/** Where references may point: `references` of the settings. */
export interface ReferenceSettings {
  /** Folders in which files may lie; none: no files. */
  folders: readonly string[];
  /** Hosts of https URLs: `example.com`, `*.example.com` for all below it, with `:PORT` where it is not 443. */
  hosts: readonly string[];
  /** Whether these hosts may have addresses that are not public. */
  allow_private: boolean;
  /** Bytes. */
  max_bytes: number;
  /** Milliseconds for one fetch. */
  timeout: number;
}

/** How hosts are found and trusted; default: as the operating system and Node.js do. */
export interface ReferenceConnection {
  resolve?: Resolve;
  tls?: TlsContent;
}

const HOST = /^(?:(?:\*\.)?[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i;

function checkHosts(hosts: readonly string[]): void {
  const problems = hosts.flatMap((host, n) =>
    HOST.test(host)
      ? []
      : [
          {
            path: `references.hosts[${n}]`,
            message: 'expected a host such as evidence.example.com, *.example.com or example.com:8443',
            found: show(host),
          },
        ],
  );
  if (problems.length > 0)
    throw new SluiceError('INVALID_CONFIG', 'The settings name a host that is none.', problems);
}

const SHA256 = /^[0-9a-f]{64}$/i;

/**
 * Reads what commands refer to: files of allowed folders, answers of allowed hosts, nothing else. Throws
 * INVALID_CONFIG when a host of the settings is none.
 */
export function openReferences(
  settings: ReferenceSettings,
  { resolve, tls }: ReferenceConnection = {},
): ReferenceReader & { close(): void } {
  checkHosts(settings.hosts);
  const client = new GuardedClient({
    allowPrivate: settings.allow_private,
    ...(resolve === undefined ? {} : { resolve }),
  });
  return {
    async read({ uri, sha256 }) {
      if (!SHA256.test(sha256))
        throw badReference('sha256', 'the digest is not 64 hex digits', { found: sha256 });
      if (!URL.canParse(uri))
        throw badReference('uri', 'the reference is no URL', {
          found: uri,
          allowed: ['file:///PATH', 'https://HOST/PATH'],
        });
      const url = new URL(uri);
      if (url.protocol === 'file:') return textOf(await readFileReference(url, settings), sha256);
      if (url.protocol !== 'https:')
        throw badReference('uri', 'the scheme is not allowed', {
          found: url.protocol,
          allowed: ['file:', 'https:'],
        });
      allowedHost(url, settings.hosts);
      return textOf(await readHostReference(url, settings, client, tls), sha256);
    },
    close: () => client.close(),
  };
}
