// A policy bundle: policy files under one version, signed with Ed25519. Hosts that pin the public key take it from the bus.
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import { z } from 'zod';
import { PUBLIC_KEY } from '../config.ts';

export type PolicyBundle = {
  /** Only rises. */
  readonly version: number;
  readonly issuedAtMs: number;
  /** How long it holds. */
  readonly maxAgeMs: number;
  readonly policies: readonly { readonly name: string; readonly text: string }[];
};

/** A bundle whose signature is that of `key`. */
export type SignedBundle = PolicyBundle & {
  /** The public key, as `ed25519:` and 43 characters. */
  readonly key: string;
  /** Of what is signed: two bundles of one version differ in it. */
  readonly sha256: string;
};

/** Also the limit of what a bus carries. */
const MAX_BYTES = 512 * 1024;
/** The signature covers this and the payload, so that nothing else that the key signs is a bundle. */
const CONTEXT = Buffer.from('acp-switchboard policy bundle 1\n');

const envelope = z.object({ policyBundle: z.literal(1), key: z.string(), payload: z.base64(), signature: z.base64() });
const payload = z.object({
  version: z.int().min(1),
  issuedAt: z.iso.datetime(),
  maxAgeSeconds: z.int().min(1),
  policies: z.array(z.object({ name: z.string().regex(/^[\w.-]{1,100}$/), text: z.string() })).min(1),
});

/** Why something is no bundle, a sentence for people. */
export class NoBundle extends Error {}

/** The private key in PEM, as `openssl genpkey -algorithm ed25519` makes it, and the public key as a configuration pins it. */
export function generateKey(): { readonly privateKey: string; readonly publicKey: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  return { privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), publicKey: shownKey(publicKey) };
}

/** Throws `NoBundle` if the key or the bundle cannot be used. */
export function signBundle({ version, issuedAtMs, maxAgeMs, policies }: PolicyBundle, privateKeyText: string): string {
  const key = privateKeyOf(privateKeyText);
  const issuedAt = new Date(issuedAtMs).toISOString();
  const signed = Buffer.from(JSON.stringify({ version, issuedAt, maxAgeSeconds: Math.round(maxAgeMs / 1000), policies }));
  const signature = sign(null, Buffer.concat([CONTEXT, signed]), key);
  const text = `${JSON.stringify({
    policyBundle: 1,
    key: shownKey(createPublicKey(key)),
    payload: signed.toString('base64'),
    signature: signature.toString('base64'),
  })}\n`;
  if (text.length > MAX_BYTES) throw new NoBundle(`the bundle has ${text.length} bytes, and a bus carries ${MAX_BYTES}`);
  return text;
}

/** Whether its signature is that of the key that it names; whether that key is the right one is the reader's to decide. Throws `NoBundle`. */
export function readBundle(bytes: Buffer | string): SignedBundle {
  const found = envelope.safeParse(parsed(bytes));
  if (!found.success) throw new NoBundle('it is no policy bundle');
  const { key, payload: text, signature } = found.data;
  const signed = Buffer.from(text, 'base64');
  const isSigned = verify(null, Buffer.concat([CONTEXT, signed]), publicKeyOf(key), Buffer.from(signature, 'base64'));
  if (!isSigned) throw new NoBundle(`its signature is not that of ${key}: it was forged or changed`);
  const content = payload.safeParse(parsed(signed));
  if (!content.success) throw new NoBundle('it is of a format that this version of switchboard does not know');
  const { version, issuedAt, maxAgeSeconds, policies } = content.data;
  const sha256 = createHash('sha256').update(signed).digest('hex');
  return { version, issuedAtMs: Date.parse(issuedAt), maxAgeMs: maxAgeSeconds * 1000, policies, key, sha256 };
}

/** The name of a policy in a bundle, for messages and the audit log. */
export const nameInBundle = (version: number, name: string): string => `bundle-${version}/${name}`;

function parsed(bytes: Buffer | string): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}

const shownKey = (key: KeyObject): string => `ed25519:${key.export({ format: 'jwk' }).x}`;

function publicKeyOf(text: string): KeyObject {
  const [, x] = PUBLIC_KEY.exec(text) ?? [];
  if (x === undefined) throw new NoBundle('it names no key');
  return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
}

function privateKeyOf(text: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(text);
  } catch {}
  if (key?.asymmetricKeyType !== 'ed25519') throw new NoBundle('the key is no Ed25519 private key in PEM format');
  return key;
}
