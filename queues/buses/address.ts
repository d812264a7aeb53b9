/** Where a broker is. */
export interface Address {
  /** Without brackets. */
  host: string;
  port: number;
  isTls: boolean;
  /** What stands between host and `#`, without the first slash, as it was written. */
  path: string;
  /** What stands behind the first `#`. */
  place: string;
}

/**
 * Reads `SCHEME[s]://HOST[:PORT][/PATH]#PLACE`. A text says what is wrong, without showing the target: it
 * may hold a password.
 */
export function parseAddress(
  target: string,
  scheme: string,
  ports: { plain: number; tls: number },
): Address | string {
  const at = target.indexOf('#');
  const head = at < 0 ? target : target.slice(0, at);
  const found = /^([a-z]+):\/\//.exec(head);
  if (found === null || (found[1] !== scheme && found[1] !== `${scheme}s`))
    return `does not begin with ${scheme}:// or ${scheme}s://`;
  if (head.includes('@')) return 'holds credentials; put them into the options user and password';
  if (head.includes('?')) return 'holds a query; settings go into options';
  // Only of the schemes of the web does URL read host and port as people mean them.
  const url = parsed(`http${head.slice(found[0].length - 3)}`);
  if (url === undefined || url.hostname === '') return 'lacks its host, or it is none';
  if (at < 0) return 'lacks what stands behind #';
  const isTls = found[1] === `${scheme}s`;
  const explicit = /:(\d+)(?:\/|$)/.exec(head.slice(found[0].length))?.[1];
  const port = explicit === undefined ? (isTls ? ports.tls : ports.plain) : Number(explicit);
  if (port < 1 || port > 65_535) return 'has a port that is none';
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port,
    isTls,
    path: url.pathname.slice(1),
    place: target.slice(at + 1),
  };
}

function parsed(text: string): URL | undefined {
  try {
    return new URL(text);
  } catch {
    return undefined;
  }
}

/** Whether a host is this machine by its name or address. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(?:\.\d{1,3}){3}$/.test(host);
