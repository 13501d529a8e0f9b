// Texts that were read with care before and found good, by their fingerprints: an editor that waits for us does not wait for the parser and the
// schema to be loaded and asked again. Only the very same text counts, and only for the version that looked at it.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fingerprint } from '../fingerprint.ts';
import { makeDirectory, replaceFile } from '../private-files.ts';
import type { Document, Path } from './problems.ts';
import type { Source } from './watch-files.ts';

const KEPT = 50;

export type KnownGood = {
  /** The file's values, if its text is known to be good. */
  read(source: Source): Document | undefined;
  /** `documents` have no problems, neither of syntax nor with the schema. */
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
        // Then it is read with care the next time as well.
      }
    },
  };
}

/** A list that cannot be read knows nothing. */
function readHashes(file: string): readonly string[] {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'));
    return Array.isArray(value) ? value.filter((hash) => typeof hash === 'string') : [];
  } catch {
    return [];
  }
}

/** Whether the quick way of reading says the same as the careful one has said. */
function isReadAlike(source: Source, careful: Document | undefined): boolean {
  try {
    const quick = readQuickly(source);
    const servers: Path = ['agent_servers'];
    return (
      JSON.stringify(quick.value) === JSON.stringify(careful?.value) && quick.keys(servers).join('\n') === careful?.keys(servers).join('\n')
    );
  } catch {
    return false;
  }
}

/** For text that is good. Without places: whoever finds a problem all the same has to read it again, with care. */
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

/** Strings as they are; comments, and commas before a closing bracket, left out. */
function withoutComments(text: string): string {
  const isPlain = !text.includes('/') && !/,\s*[}\]]/.test(text);
  if (isPlain) return text;
  const bare = text.replace(/("(?:[^"\\]|\\.)*")|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g, (_, string) => string ?? ' ');
  return bare.replace(/("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])/g, (_, string) => string ?? '');
}
