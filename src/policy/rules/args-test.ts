// `args: { "/owner": ["our-org"], "/title": { regex: "^fix" } }`: values that an MCP call's arguments must have.
import { RE2JS } from 're2js';

export type ArgTest = { readonly pointer: string; accepts(value: unknown): boolean };
export type ArgsTest = readonly ArgTest[];

export type Scalar = string | number | boolean;

export function oneOfValues(pointer: string, values: readonly Scalar[]): ArgTest {
  return { pointer, accepts: (value) => values.some((wanted) => wanted === value) };
}

/** RE2 is linear for any pattern; `^(a+)+$` can block JavaScript's own engine for minutes. */
export function matchesRegex(pointer: string, source: string): ArgTest | undefined {
  try {
    const regex = RE2JS.compile(source);
    return { pointer, accepts: (value) => typeof value === 'string' && regex.matcher(value).find() };
  } catch {
    return undefined;
  }
}

/** All tests must pass; a pointer to a missing value fails. */
export function argsMatch(tests: ArgsTest, args: unknown): boolean {
  return tests.every(({ pointer, accepts }) => accepts(valueAt(args, pointer)));
}

// RFC 6901.
function valueAt(value: unknown, pointer: string): unknown {
  let at: unknown = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    at = (at as Record<string, unknown>)[key];
  }
  return at;
}
