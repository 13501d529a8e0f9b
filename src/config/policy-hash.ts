// One name for a policy as a whole: the same layers with the same texts have the same hash, and any other text has another.
import { createHash } from 'node:crypto';

/** What the audit log names and remembered answers depend on. Remembered answers are no part of it. */
export function policyHash(layers: readonly { readonly name: string; readonly text: string; readonly isTrusted?: boolean }[]): string {
  const parts = layers.map(({ name, text, isTrusted = true }) => [name, isTrusted, text]);
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex');
}
