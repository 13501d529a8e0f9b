// Certificates for the servers of a bus: other programs must accept them for the names that they were made for, and for no other.
import { X509Certificate } from 'node:crypto';
import { expect, test } from 'vitest';
import { createAuthority, createServerCertificate } from '../../../src/bus/setup/certificates.ts';

const NOW = Date.UTC(2026, 0, 1);
const authority = createAuthority('the authority of a bus', NOW);
const issuer = new X509Certificate(authority.cert);
const of = (...addresses: string[]) => new X509Certificate(createServerCertificate(authority, addresses, NOW).cert);

test('an authority signs itself, and certificates that name it as their issuer', () => {
  const cert = of('10.0.0.5');
  expect([issuer.verify(issuer.publicKey), issuer.ca, issuer.subject]).toEqual([true, true, 'CN=the authority of a bus']);
  expect([cert.verify(issuer.publicKey), cert.checkIssued(issuer), cert.ca]).toEqual([true, true, false]);
  expect(cert.verify(new X509Certificate(createAuthority('another', NOW).cert).publicKey)).toBe(false);
});

test('a certificate is for its names and addresses alone', () => {
  const cert = of('nats.example', '10.0.0.5', 'fd00::1:5', '::1');
  for (const address of ['10.0.0.5', 'fd00::1:5', '::1']) expect(cert.checkIP(address)).toBe(address);
  expect([cert.checkHost('nats.example'), cert.checkHost('other.example'), cert.checkIP('10.0.0.6')]).toEqual([
    'nats.example',
    undefined,
    undefined,
  ]);
});

test('it is valid for years from an hour ago on, also beyond 2049', () => {
  expect([issuer.validFrom, issuer.validTo]).toEqual(['Dec 31 23:00:00 2025 GMT', 'Dec 30 00:00:00 2035 GMT']);
  expect(new X509Certificate(createAuthority('late', Date.UTC(2045, 5, 1)).cert).validTo).toBe('May 30 00:00:00 2055 GMT');
});

test('serial numbers differ', () => {
  expect(of('a').serialNumber).not.toBe(of('a').serialNumber);
});

test('long names are encoded whole', () => {
  const name = `${'a'.repeat(60)}.${'b'.repeat(60)}.example`;
  const many = Array.from({ length: 40 }, (_, k) => `n${k}.${name}`);
  const cert = of(...many);
  expect(cert.checkHost(many[39] as string)).toBe(many[39]);
  expect(cert.checkIssued(issuer)).toBe(true);
});
