// Files with credentials for NATS: a signed user (`.creds`), or the seed of a key alone.
import { readFileSync } from 'node:fs';
import { type Authenticator, credsAuthenticator, nkeyAuthenticator, nkeys } from '@nats-io/transport-node';
import { BusFailure } from './bus.ts';
import { inboxOf } from './setup/grants.ts';

const SEED = /^SU[A-Z2-7]{56}$/m;

/** Throws the system's error if the file cannot be read. */
export function natsLogin(file: string): { readonly authenticator: Authenticator; readonly inboxPrefix?: string } {
  const bytes = readFileSync(file);
  const text = bytes.toString('latin1');
  if (text.includes('-----BEGIN NATS USER JWT-----')) return { authenticator: credsAuthenticator(bytes) };
  const [seed] = SEED.exec(text) ?? [];
  if (seed === undefined) throw new BusFailure('refused', `${file} contains neither NATS credentials nor the seed of a user's key`);
  const pair = nkeys.fromSeed(Buffer.from(seed));
  return { authenticator: nkeyAuthenticator(Buffer.from(seed)), inboxPrefix: inboxOf(pair.getPublicKey()) };
}

/** A new user's key. */
export function createUserKey(): { readonly seed: string; readonly key: string } {
  const pair = nkeys.createUser();
  return { seed: Buffer.from(pair.getSeed()).toString(), key: pair.getPublicKey() };
}

/** Undefined if the text contains no seed. */
export function publicKeyOf(text: string): string | undefined {
  const [seed] = SEED.exec(text) ?? [];
  return seed === undefined ? undefined : nkeys.fromSeed(Buffer.from(seed)).getPublicKey();
}
