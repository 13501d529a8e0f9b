// Certificates for the servers of a small cluster, signed by an authority of its own: X.509 in DER, with what node:crypto has.
import { createPrivateKey, generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';

/** PEM texts. */
export type Certified = { readonly cert: string; readonly key: string };

const DAY_MS = 24 * 3600_000;
const AUTHORITY_DAYS = 3650;
const SERVER_DAYS = 1825;
/** Clocks differ. */
const EARLIER_MS = 3600_000;

export function createAuthority(name: string, nowMs: number): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subject = nameOf(name);
  const extensions = [extension(OID.basicConstraints, sequence(boolean(true))), extension(OID.keyUsage, bits([5, 6]))];
  const cert = signed({ subject, issuer: subject, publicKey, days: AUTHORITY_DAYS, nowMs, extensions }, privateKey);
  return { cert, key: pemOf(privateKey) };
}

/** `addresses`: the names and IP addresses under which it is reached. */
export function createServerCertificate(authority: Certified, addresses: readonly string[], nowMs: number): Certified {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer = subjectOf(new X509Certificate(authority.cert).raw);
  const extensions = [
    extension(OID.basicConstraints, sequence()),
    extension(OID.keyUsage, bits([0])),
    // Servers of a cluster are clients of each other.
    extension(OID.extendedKeyUsage, sequence(oid(OID.serverAuth), oid(OID.clientAuth))),
    extension(OID.subjectAltName, sequence(...addresses.map(alternativeName))),
  ];
  const tbs = { subject: nameOf(addresses[0] ?? ''), issuer, publicKey, days: SERVER_DAYS, nowMs, extensions };
  return { cert: signed(tbs, createPrivateKey(authority.key)), key: pemOf(privateKey) };
}

type ToSign = {
  readonly subject: Buffer;
  readonly issuer: Buffer;
  readonly publicKey: KeyObject;
  readonly days: number;
  readonly nowMs: number;
  readonly extensions: readonly Buffer[];
};

function signed({ subject, issuer, publicKey, days, nowMs, extensions }: ToSign, key: KeyObject): string {
  const serial = randomBytes(16);
  serial[0] = ((serial[0] as number) & 0x7f) | 0x40; // positive, and without a leading zero
  const algorithm = sequence(oid(OID.ecdsaWithSha256));
  const body = sequence(
    element(0xa0, element(0x02, Buffer.from([2]))), // version 3
    element(0x02, serial),
    algorithm,
    issuer,
    sequence(time(nowMs - EARLIER_MS), time(nowMs + days * DAY_MS)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(...extensions)),
  );
  const signature = sign('sha256', body, key);
  const der = sequence(body, algorithm, element(0x03, Buffer.concat([Buffer.from([0]), signature])));
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

/** The subject of a certificate, in DER: the sixth part of its body. */
function subjectOf(der: Buffer): Buffer {
  const body = partsOf(partsOf(der)[0] as Buffer);
  return body[5] as Buffer;
}

/** The elements inside an element. */
function partsOf(der: Buffer): readonly Buffer[] {
  const parts: Buffer[] = [];
  for (let at = headOf(der, 0).contents; at < der.length; ) {
    const { end } = headOf(der, at);
    parts.push(der.subarray(at, end));
    at = end;
  }
  return parts;
}

function headOf(der: Buffer, at: number): { readonly contents: number; readonly end: number } {
  const first = der[at + 1] as number;
  if (first < 0x80) return { contents: at + 2, end: at + 2 + first };
  const count = first & 0x7f;
  const contents = at + 2 + count;
  return { contents, end: contents + der.readUIntBE(at + 2, count) };
}

const OID = {
  commonName: '2.5.4.3',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
} as const;

function element(tag: number, ...contents: readonly Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  if (body.length < 0x80) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length = Buffer.from(body.length.toString(16).padStart(body.length > 0xff ? 4 : 2, '0'), 'hex');
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length]), length, body]);
}

const sequence = (...contents: readonly Buffer[]): Buffer => element(0x30, ...contents);
const boolean = (value: boolean): Buffer => element(0x01, Buffer.from([value ? 0xff : 0]));

function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const groups = [part & 0x7f];
    for (let left = part >> 7; left > 0; left >>= 7) groups.unshift((left & 0x7f) | 0x80);
    bytes.push(...groups);
  }
  return element(0x06, Buffer.from(bytes));
}

/** A bit string with these bits set. All are in the first byte. */
function bits(set: readonly number[]): Buffer {
  const byte = set.reduce((sum, bit) => sum | (0x80 >> bit), 0);
  return element(0x03, Buffer.from([7 - Math.max(...set), byte]));
}

const nameOf = (commonName: string): Buffer =>
  sequence(element(0x31, sequence(oid(OID.commonName), element(0x0c, Buffer.from(commonName)))));

const isCritical = (id: string): boolean => id === OID.basicConstraints || id === OID.keyUsage;

const extension = (id: string, value: Buffer): Buffer =>
  sequence(oid(id), ...(isCritical(id) ? [boolean(true)] : []), element(0x04, value));

const alternativeName = (address: string): Buffer =>
  isIP(address) === 0 ? element(0x82, Buffer.from(address)) : element(0x87, addressBytes(address));

function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = '', tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string | undefined) => (text ? text.split(':') : []);
  const zeros = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array<string>(zeros).fill('0'), ...groups(tail)];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}

/** UTCTime until 2049. */
function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return ms < Date.UTC(2050, 0) ? element(0x17, Buffer.from(text.slice(2))) : element(0x18, Buffer.from(text));
}

const pemOf = (key: KeyObject): string => key.export({ type: 'pkcs8', format: 'pem' }) as string;
