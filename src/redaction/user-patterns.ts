// Patterns that users give, run by an engine that needs the same time for each character whatever the pattern: Node's own can be made to hang.
import { RE2JS } from 're2js';
import type { UserPattern } from './redact.ts';

/** Throws when it is not a pattern that RE2 knows; a pattern that matches nothing at all is taken, one that matches everywhere is not. */
export function compileUserPattern(source: string): UserPattern {
  const compiled = RE2JS.compile(source);
  if (compiled.matcher('').find()) throw new Error('it matches the empty text');
  return (text) => compiled.matcher(text).replaceAll('[redacted:pattern]');
}
