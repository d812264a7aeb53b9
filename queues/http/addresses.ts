import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** Words for ranges whose names in ipaddr.js say too little. */
const WORDS: Record<string, string> = {
  private: 'of a private network',
  loopback: 'of this machine',
  linkLocal: 'link-local',
  uniqueLocal: 'of a private network',
  carrierGradeNat: 'of a carrier’s own network',
  unspecified: 'no address of a host',
  multicast: 'multicast',
  broadcast: 'broadcast',
};

/** Where public IPv6 addresses lie; what lies outside embeds others, or is kept for later. */
const PUBLIC_IPV6 = ipaddr.parseCIDR('2000::/3');

/**
 * Why an address is not a public one, in words; undefined: it is public. IPv6 addresses that embed an
 * IPv4 address (mapped, translated, tunnelled) are none.
 */
export function privateRange(address: string): string | undefined {
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (address.includes('%')) return 'link-local';
  const parsed = ipaddr.parse(address);
  const range = parsed.range();
  if (range !== 'unicast') return WORDS[range] ?? `reserved (${range})`;
  return parsed.kind() === 'ipv6' && !parsed.match(PUBLIC_IPV6) ? 'reserved' : undefined;
}

/** The host of a URL without the brackets of IPv6. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '');
}

/** The address that a host stands for by itself. URL has brought every spelling of it into one. */
export function literalAddress(url: URL): string | undefined {
  const host = hostOf(url);
  return isIP(host) === 0 ? undefined : host;
}

/** Whether a URL names this machine: 127.0.0.0/8, ::1, localhost. */
export function isLoopback(url: URL): boolean {
  const address = literalAddress(url);
  if (address === undefined) return /^(?:.+\.)?localhost\.?$/.test(url.hostname);
  return ipaddr.parse(address).range() === 'loopback';
}
