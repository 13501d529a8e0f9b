// A policy bundle for people and programs.
import { shown } from '../../bus/policy/accept.ts';
import { NoBundle, nameInBundle, readBundle, type SignedBundle } from '../../bus/policy/bundle.ts';
import { loadPolicy } from '../../policy/format/load.ts';
import { CommandFailure } from '../failure.ts';
import { readInput } from '../resolve-config.ts';

export const FOUND_PROBLEMS = 8;

/** A bundle with a signature; a CommandFailure for anything else. */
export async function bundleIn(file: string): Promise<SignedBundle> {
  const text = await readInput('the bundle', file);
  return usable(() => readBundle(text), `${file}: `);
}

/** Its policies, read. */
export const policiesOf = ({ version, policies }: SignedBundle) =>
  policies.map(({ name, text }) => loadPolicy(nameInBundle(version, name), text));

export const inWords = ({ version, issuedAtMs, maxAgeMs, policies, key }: SignedBundle): string =>
  `policy bundle ${version} (${policies.map(({ name }) => name).join(', ')}), issued ${shown(issuedAtMs)}, expires ${shown(issuedAtMs + maxAgeMs)}, signed by ${key}`;

export const shownBundle = ({ version, issuedAtMs, maxAgeMs, policies, key, sha256 }: SignedBundle) => ({
  version,
  policies: policies.map(({ name }) => name),
  issuedAt: shown(issuedAtMs),
  expiresAt: shown(issuedAtMs + maxAgeMs),
  key,
  sha256,
});

export function usable<T>(make: () => T, where = ''): T {
  try {
    return make();
  } catch (error) {
    if (error instanceof NoBundle)
      throw new CommandFailure(
        FOUND_PROBLEMS,
        `${where}${error.message}`,
        'make a bundle: switchboard policy bundle sign POLICY --key FILE',
      );
    throw error;
  }
}
