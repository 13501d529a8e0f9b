// What the product is designed to have and this version does not serve. Said as such, since calling it unknown would send people
// looking for a typing error, and accepting it in silence could leave a policy unenforced.
import type { Path } from './document.ts';

const KEYS: Readonly<Record<string, readonly string[]>> = {
  '': ['proxies'],
  'agent_servers.*': ['url', 'proxies'],
};

const VALUES: Readonly<Record<string, readonly unknown[]>> = {};

export function isLaterKey(owner: Path, key: string): boolean {
  return KEYS[pattern(owner)]?.includes(key) ?? false;
}

export function isLaterValue(path: Path, value: unknown): boolean {
  return VALUES[pattern(path)]?.includes(value) ?? false;
}

function pattern(path: Path): string {
  return path.map((part, index) => (index === 1 && path[0] === 'agent_servers' ? '*' : part)).join('.');
}
