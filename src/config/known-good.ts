// Fingerprints of configuration texts that passed validation. For such a text, start-up skips loading the parser and the schema.
// A fingerprint is valid only for the exact text and the program version that checked it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fingerprint } from '../fingerprint.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import type { Document, Path } from './problems.ts';
import type { Source } from './watch-files.ts';

const KEPT = 50;

export type KnownGood = {
  /** The values of the file, if its text is known to be valid. */
  read(source: Source): Document | undefined;
  /** Records documents that passed syntax and schema checks. */
  remember(sources: readonly Source[], documents: readonly Document[]): void;
};

export const NOTHING_KNOWN: KnownGood = { read: () => undefined, remember: () => {} };

export function createKnownGood(stateDir: string, version: string): KnownGood {
  const file = path.join(stateDir, 'checked.json');
  const hashOf = (text: string) => fingerprint(`${version}\n${text}`);
  const hashes = readHashes(file);
  return {
    read: (source) => (hashes.includes(hashOf(source.text)) ? readQuickly(source) : undefined),
    remember(sources, documents) {
      const fresh = sources.filter((source, index) => isReadAlike(source, documents[index])).map(({ text }) => hashOf(text));
      if (fresh.length === 0) return;
      try {
        makeDirectory(stateDir);
        const others = readHashes(file).filter((hash) => !fresh.includes(hash));
        replaceFile(file, JSON.stringify([...others, ...fresh].slice(-KEPT), null, 1));
      } catch {
        // Not fatal: the next start validates the file again.
      }
    },
  };
}

/** An unreadable list counts as empty. */
function readHashes(file: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
  } catch {
    return [];
  }
}

/** Whether the fast parser reads the same values as the strict one. */
function isReadAlike(source: Source, strict: Document | undefined): boolean {
  try {
    const quick = readQuickly(source);
    const servers: Path = ['agent_servers'];
    return (
      JSON.stringify(quick.value) === JSON.stringify(strict?.value) && quick.keys(servers).join('\n') === strict?.keys(servers).join('\n')
    );
  } catch {
    return false;
  }
}

/** Parses a valid text without recording positions. To report a problem, parse the text again with `parseDocument`. */
function readQuickly({ file, text }: Source): Document {
  const value: unknown = JSON.parse(withoutComments(text));
  const at = (path: Path): unknown =>
    path.reduce<unknown>((from, key) => (typeof from === 'object' && from !== null ? Reflect.get(from, key) : undefined), value);
  const problem = (_: Path, message: string) => ({ file, line: 1, column: 1, path: '', message });
  return {
    file,
    value,
    problems: [],
    has: (path) => at(path) !== undefined,
    keys: (path) => Object.keys(at(path) ?? {}),
    problem,
    keyProblem: problem,
  };
}

/** Removes comments and trailing commas; keeps strings. */
function withoutComments(text: string): string {
  const isPlain = !text.includes('/') && !/,\s*[}\]]/.test(text);
  if (isPlain) return text;
  const bare = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, (_, string) => string ?? ' ');
  return bare.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? '');
}
