import { describe, expect, it } from 'vitest';
import { isLoopback, literalAddress, privateRange } from '../../../../queues/http/addresses.js';

describe('privateRange', () => {
  it.each([
    '8.8.8.8',
    '1.1.1.1',
    '172.15.255.255',
    '172.32.0.1',
    '100.63.255.255',
    '100.128.0.1',
    '2606:4700:4700::1111',
    '2a00:1450:4001:81b::200e',
  ])('%s is public', (address) => {
    expect(privateRange(address)).toBeUndefined();
  });

  it.each([
    ['127.0.0.1', 'of this machine'],
    ['127.255.255.254', 'of this machine'],
    ['0.0.0.0', 'no address of a host'],
    ['0.1.2.3', 'no address of a host'],
    ['10.0.0.1', 'of a private network'],
    ['172.16.0.1', 'of a private network'],
    ['192.168.255.255', 'of a private network'],
    ['169.254.169.254', 'link-local'],
    ['100.64.0.1', 'of a carrier’s own network'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['240.0.0.1', 'reserved (reserved)'],
    ['198.18.0.1', 'reserved (reserved)'],
    ['192.0.2.1', 'reserved (reserved)'],
    ['255.255.255.255', 'broadcast'],
    ['::', 'no address of a host'],
    ['::1', 'of this machine'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['fd00:ec2::254', 'of a private network'],
    ['ff02::1', 'multicast'],
    ['fec0::1', 'reserved (deprecatedSiteLocal)'],
    ['::ffff:127.0.0.1', 'reserved (ipv4Mapped)'],
    ['::ffff:8.8.8.8', 'reserved (ipv4Mapped)'],
    ['::7f00:1', 'reserved'],
    ['::127.0.0.1', 'reserved (ipv4Mapped)'],
    ['64:ff9b::a9fe:a9fe', 'reserved (rfc6052)'],
    ['64:ff9b:1::a00:1', 'reserved (rfc6052)'],
    ['2002:7f00:1::', 'reserved (6to4)'],
    ['2001:0:7f00:1::', 'reserved (teredo)'],
    ['2001:db8::1', 'reserved (reserved)'],
    ['4000::1', 'reserved'],
  ])('%s is %s', (address, range) => {
    expect(privateRange(address)).toBe(range);
  });
});

describe('the address in a URL', () => {
  it.each([
    'http://127.0.0.1/',
    'http://2130706433/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.1/',
    'http://0x7f.0.0.0x1/',
    'http://１２７.0.0.1/',
    'http://127.0.0.1./',
    'http://[::1]/',
    'http://[0:0:0:0:0:0:0:1]/',
  ])('%s is of this machine however it is spelt', (text) => {
    const url = new URL(text);
    expect(isLoopback(url)).toBe(true);
    expect(privateRange(literalAddress(url) ?? '')).toBe('of this machine');
  });

  it.each([
    ['http://localhost/', true],
    ['http://LOCALHOST.:80/', true],
    ['http://a.localhost/', true],
    ['http://localhost.example.com/', false],
    ['http://notlocalhost/', false],
    ['http://127.0.0.1.example.com/', false],
    ['http://8.8.8.8/', false],
    ['http://[::ffff:127.0.0.1]/', false],
  ])('%s names this machine: %s', (text, expected) => {
    expect(isLoopback(new URL(text))).toBe(expected);
  });
});
