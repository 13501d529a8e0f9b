// The effects of single words, by their type in the program table.
import type { Effect, FileEffect, FileEffectKind, Meaning, Origin } from './effect.ts';
import type { StatedEffect, WordType } from './program.ts';
import { readAwk } from './scripts/awk.ts';
import { type GitReading, readLineRange, readPathspec, readRevisionOrPath } from './scripts/git-words.ts';
import { readJq } from './scripts/jq.ts';
import { readSed, type ScriptReading } from './scripts/sed.ts';
import type { Parsed, Word } from './table/parse.ts';

export class NotUnderstood extends Error {
  readonly word: string;
  readonly reason: string;
  constructor(word: string, reason: string) {
    super(reason);
    this.word = word;
    this.reason = reason;
  }
}

/** A command whose words are being read. */
export type Reading = {
  readonly parsed: Parsed;
  readonly effects: Effect[];
  readonly scope: Pick<FileEffect, 'walks' | 'globs' | 'isWidened' | 'seesHidden' | 'includes'>;
  readonly isTracked: boolean;
  readonly changesPathspecs: boolean;
  readonly opensAddresses: boolean;
  entered: readonly string[];
  readonly nested: (argv: readonly string[]) => Meaning;
};

const FILE_KINDS: ReadonlySet<string> = new Set(['read', 'names', 'walk', 'write', 'modify', 'append', 'delete', 'move', 'unpack']);
export const isFileKind = (type: WordType): type is FileEffectKind => FILE_KINDS.has(type);
const NUMBER = /^[-+]?\d+(\.\d+)?([kKMGTPEbcw]i?B?|ms|[smhd])?$/;

export function readValue(reading: Reading, type: WordType, word: Word, by: Origin, option: string | undefined): void {
  const { text, index } = word;
  if (isFileKind(type)) return addFile(reading, type, text, index, by, option);
  switch (type) {
    case 'none':
    case 'text':
    case 'date':
    case 'pattern':
    case 'glob':
      return;
    case 'number':
      if (!NUMBER.test(text)) throw new NotUnderstood(text, 'not a number');
      return;
    case 'revision':
      if (text.startsWith('-')) throw new NotUnderstood(text, 'not a revision');
      return;
    case 'enter':
      reading.entered = [...reading.entered, text];
      return addFile(reading, 'names', '.', index, by, option);
    case 'run':
      reading.effects.push({ kind: 'run', program: text, word: index, by });
      return;
    case 'url':
      reading.effects.push({ kind: 'connect', host: hostOfUrl(text), word: index, by });
      return;
    case 'host':
      if (!/^(?:[\w.-]+@)?[A-Za-z0-9][\w.-]*$/.test(text)) throw new NotUnderstood(text, 'not the name of a host');
      reading.effects.push({ kind: 'connect', host: text.replace(/^.*@/, '').toLowerCase(), word: index, by });
      return;
    case 'env':
      reading.effects.push({ kind: 'environment', word: index, by });
      return;
    case 'env-or-value':
      if (!text.includes('=')) reading.effects.push({ kind: 'environment', word: index, by });
      return;
    case 'address-or-name':
    case 'repository': {
      const host = hostOfName(text, type === 'repository');
      if (host !== undefined) reading.effects.push({ kind: 'connect', host, word: index, by });
      return;
    }
    case 'argument': {
      const file = text.startsWith('-') ? /^--?[\w-]+=(.+)$|^-\w([./~].*)$/s.exec(text)?.slice(1).find(Boolean) : text;
      if (file !== undefined && !ADDRESS.test(file)) addFile(reading, 'read', file, index, by, option);
      return;
    }
    case 'data': {
      const file = /(?:^|=)[@<](.+)$/s.exec(text)?.[1];
      if (file !== undefined) addFile(reading, 'read', file, index, by, option);
      return;
    }
    case 'form': {
      // `;type=`, `;headers=@file`, `a,b` and quotes are curl's own.
      const [, file] = /^[\w.[\]-]+=(?:[@<]([^;,"\\]+)|[^@<;"\\(][^;\\]*|)$/.exec(text) ?? [];
      if (file === undefined && !/^[\w.[\]-]+=(?:[^@<;"\\(][^;\\]*|)$/.test(text))
        throw new NotUnderstood(text, 'a field of a form that is not understood');
      if (file !== undefined) addFile(reading, 'read', file, index, by, option);
      return;
    }
    case 'plain-file':
      if (/[{}[\]]/.test(text)) throw new NotUnderstood(text, 'a pattern that stands for several files');
      return addFile(reading, 'read', text, index, by, option);
    case 'format':
      return readFormat(reading, text);
    case 'revision-or-path':
      return addGit(reading, readRevisionOrPath(text), word, by, option);
    case 'pathspec':
      return addGit(reading, readPathspec(text), word, by, option);
    case 'untracked-pathspec':
      return addGit(reading, readPathspec(text), word, by, option, true);
    case 'line-range':
      return addGit(reading, readLineRange(text), word, by, option);
    case 'script:sed':
      return addScript(reading, readSed(text), word, by, option);
    case 'script:jq':
      return addScript(reading, readJq(text), word, by, option);
    case 'script:awk':
      return addScript(reading, readAwk(text), word, by, option);
    case 'script:shell':
      throw new NotUnderstood(text, 'a command line inside a word');
    case 'command':
      throw new NotUnderstood(text, 'another command');
    default:
  }
  if (type.startsWith('one:')) {
    if (!type.slice(4).split(',').includes(text)) throw new NotUnderstood(text, `not one of ${type.slice(4)}`);
  } else if (type.startsWith('project:')) {
    reading.effects.push({
      kind: 'project',
      name: text,
      word: index,
      by,
      isCode: reading.parsed.entry.parse === 'first' || by === 'option',
    });
    addFile(reading, 'read', text, index, by, option);
  } else if (!type.startsWith('sets:')) throw new NotUnderstood(text, type.replace(/^unclear:/, ''));
}

const CONVERSION = /%(?:%|[-+ #0'\d.*$]*(?:hh|h|ll|l|L|j|z|t)?(\([^()]*\)T|[A-Za-z]))/g;
/** A number, or a character whose code is meant. */
const PLAIN_NUMBER = /^(?:[-+]?\d[\d.]*|['"].)?$/s;

// `%n` sets a variable. For zsh and ksh the numbers are arithmetic, which can do so too: `printf %d PATH=5`.
function readFormat({ parsed }: Reading, format: string): void {
  const conversions = [...format.matchAll(CONVERSION)];
  if (conversions.some(([, letter]) => letter === 'n')) throw new NotUnderstood(format, '%n sets a variable');
  const isNumeric = conversions.some(([whole, letter]) => whole !== '%%' && (whole.includes('*') || !/^[sbqQc]$/.test(letter ?? '')));
  const [, ...values] = [...parsed.operands, ...parsed.dashed];
  const wrong = isNumeric ? values.find(({ text }) => !PLAIN_NUMBER.test(text)) : undefined;
  if (wrong !== undefined) throw new NotUnderstood(wrong.text, 'some shells take it for arithmetic');
}

function hostOfUrl(text: string): string {
  // Braces and brackets stand for several addresses (curl); a name before the host is for signing in.
  const host = /^https?:\/\/([A-Za-z0-9.-]+)(:\d+)?([/?#][^[\]{}\s\\]*)?$/i.exec(text)?.[1];
  if (host === undefined) throw new NotUnderstood(text, 'not a plain http or https address');
  return host.toLowerCase().replace(/\.$/, '');
}

/** Of gh: a host other than the one that every subcommand connects to. */
function hostOfName(text: string, isRepository: boolean): string | undefined {
  if (!isRepository && !text.includes('://')) return undefined;
  const parts = /^(?:(?:([\w.-]+)\/)?[\w.-]+\/)?[\w.-]+$/.exec(text);
  const host = parts === null ? hostOfUrl(text) : parts[1]?.toLowerCase();
  return host === 'github.com' ? undefined : host;
}

const ADDRESS = /^[a-z][a-z0-9+.-]*:|^git[+@]|^github\.com\//i;

export function addFile(
  reading: Reading,
  kind: FileEffectKind,
  path: string,
  word: number,
  by: Origin,
  option: string | undefined,
  isTracked = reading.isTracked,
): void {
  // Standard input or output.
  if (path === '-' && kind !== 'delete') return;
  if (reading.opensAddresses && ADDRESS.test(path)) throw new NotUnderstood(path, 'an address where a file is expected');
  // tar takes `host:file` for an archive on another machine.
  if (reading.parsed.entry.parse === 'tar' && option === '-f' && path.includes(':')) throw new NotUnderstood(path, 'an archive elsewhere');
  // The archive and other files of options are where tar starts, whatever -C says.
  const isArchive = reading.parsed.entry.parse === 'tar' && by === 'option' && kind !== 'names';
  reading.effects.push({
    kind,
    path,
    entered: isArchive ? [] : reading.entered,
    word,
    by,
    option,
    ...((kind === 'walk' || kind === 'names') && reading.scope),
    ...(isTracked && { isTracked: true }),
  });
}

function addGit(
  reading: Reading,
  found: GitReading,
  { text, index }: Word,
  by: Origin,
  option: string | undefined,
  isUntracked = false,
): void {
  if ('reason' in found) throw new NotUnderstood(text, found.reason);
  for (const { path: named, isFromRoot, isPattern } of found.paths) {
    const path = isFromRoot ? `$repository/${named}` : named;
    const about = { path, entered: reading.entered, word: index, by, option, isPattern };
    if (isUntracked) reading.effects.push({ kind: 'walk', ...about, ...reading.scope });
    else reading.effects.push({ kind: reading.changesPathspecs && named !== 'HEAD' ? 'modify' : 'read', ...about, isTracked: true });
  }
}

function addScript(reading: Reading, found: ScriptReading, { text, index }: Word, by: Origin, option: string | undefined): void {
  if ('reason' in found) throw new NotUnderstood(text, found.reason);
  for (const effect of found.effects) {
    if (effect.kind === 'environment') reading.effects.push({ kind: 'environment', word: index, by });
    // A script is no file name: what it writes is as unexpected as what an option writes.
    else addFile(reading, effect.kind, effect.path, index, effect.kind === 'write' ? 'option' : by, option ?? 'script');
  }
}

export function state(reading: Reading, effect: StatedEffect, by: Origin): void {
  const at = { word: -1, by };
  switch (effect.kind) {
    case 'run':
      reading.effects.push({ kind: 'run', program: effect.program, ...at });
      return;
    case 'project':
      reading.effects.push({ kind: 'project', name: effect.name, isCode: false, ...at });
      return;
    case 'connect':
      reading.effects.push({ kind: 'connect', host: effect.host, ...at });
      return;
    case 'environment':
      reading.effects.push({ kind: 'environment', ...at });
      return;
    default:
      addFile(reading, effect.kind, effect.path, -1, by, undefined, reading.isTracked && !('isUntracked' in effect));
  }
}
