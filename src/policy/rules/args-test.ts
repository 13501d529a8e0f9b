// `args: { "/owner": ["our-org"], "/title": { regex: "^fix" } }`: what must stand where in the arguments of an MCP call.
import { RE2JS } from 're2js';

export type ArgTest = { readonly pointer: string; accepts(value: unknown): boolean };
export type ArgsTest = readonly ArgTest[];

export type Scalar = string | number | boolean;

export function oneOfValues(pointer: string, values: readonly Scalar[]): ArgTest {
  return { pointer, accepts: (value) => values.some((wanted) => wanted === value) };
}

/** Linear in the text whatever the pattern: JavaScript's own engine can be held for minutes by `^(a+)+$`. */
export function matchesRegex(pointer: string, source: string): ArgTest | undefined {
  try {
    const regex = RE2JS.compile(source);
    return { pointer, accepts: (value) => typeof value === 'string' && regex.matcher(value).find() };
  } catch {
    return undefined;
  }
}

/** All of them must hold; a pointer that leads nowhere does not. */
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
