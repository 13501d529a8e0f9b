// Names and addresses: which hosts a list allows, and which addresses no name may lead to.
import { BlockList, isIP } from 'node:net';

/** This machine and its link: services there trust whatever connects. `169.254.169.254` is the metadata service of clouds. */
const NEVER = new BlockList();
NEVER.addSubnet('0.0.0.0', 8);
NEVER.addSubnet('127.0.0.0', 8);
NEVER.addSubnet('169.254.0.0', 16);
NEVER.addSubnet('224.0.0.0', 3); // multicast, reserved, broadcast
NEVER.addAddress('::', 'ipv6');
NEVER.addAddress('::1', 'ipv6');
NEVER.addSubnet('fe80::', 10, 'ipv6');
NEVER.addSubnet('ff00::', 8, 'ipv6');

export function isForbiddenAddress(address: string): boolean {
  const mapped = /^::(?:ffff:)?(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  const family = isIP(mapped ?? address);
  if (family === 0) return true;
  // Any other way to write an IPv4 address in IPv6 (mapped in hexadecimal, NAT64) may lead to it, too.
  if (family === 6 && /^(?:::ffff:|64:ff9b:)/i.test(address)) return true;
  return NEVER.check(mapped ?? address, family === 4 ? 'ipv4' : 'ipv6');
}

/** A host as rules compare it: lower case, no final dot, no brackets. Undefined if it is no host. */
export function plainHost(text: string): string | undefined {
  const host = text
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
  return isIP(host) !== 0 || /^[a-z0-9_-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : undefined;
}

/** `example.com` is that host, `*.example.com` every host below it. */
export function isListed(host: string, list: readonly string[]): boolean {
  return list.some((one) =>
    one.startsWith('*.') ? host.endsWith(one.slice(1)) && host.length >= one.length : one === '*' || one === host,
  );
}
