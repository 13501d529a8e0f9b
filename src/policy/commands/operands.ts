// Which files a command uses, resolved against its directory: by its effects, or, if it is not understood, every word that could be a file.
import type { Access, Evidence, Operand, Place } from '../actions/action.ts';
import { hostOf, resolvePath } from '../paths/path.ts';
import type { Effect, FileEffect, FileEffectKind, Meaning } from './effect.ts';
import { GIT_READERS, NOT_FILES, READERS } from './wrappers.ts';

const ACCESS: Readonly<Record<FileEffectKind, Access>> = {
  read: 'read',
  names: 'read',
  walk: 'read',
  write: 'write',
  // What is edited in place, or is under another name afterwards, is read as well.
  modify: 'unknown',
  append: 'write',
  delete: 'write',
  move: 'unknown',
  unpack: 'write',
};

/** Every effect on a file, those of commands that it starts included. What a program does unasked is no operand: no rule names it. */
export function fileEffectsOf(effects: readonly Effect[]): readonly FileEffect[] {
  return effects.flatMap((effect): readonly FileEffect[] => {
    if (effect.kind === 'command') return effect.meaning.isUnderstood ? fileEffectsOf(effect.meaning.effects) : [];
    return 'path' in effect && effect.by !== 'unasked' ? [effect] : [];
  });
}

export function effectOperands(meaning: Meaning, cwds: readonly string[], place: Place, evidence: Evidence): Operand[] {
  if (!meaning.isUnderstood) return [];
  return fileEffectsOf(meaning.effects).flatMap((effect) =>
    cwds.map((cwd) => ({
      ...actionPath(textOf(effect, place), cwd, place, ACCESS[effect.kind], evidence),
      word: effect.word,
      effect,
    })),
  );
}

function textOf({ path, entered }: FileEffect, { cwd }: Place): string {
  // git finds its repository from the session's directory: elsewhere nothing allows it.
  const file = /^\$repository(\/|$)/.test(path) ? `${cwd}/${path.slice('$repository/'.length)}` : path;
  return [...entered, file].reduce((base, next) => (base === '' || /^(\/|~\/)/.test(next) ? next : `${base}/${next}`), '');
}

export function operandsOf(program: string, argv: readonly string[], cwds: readonly string[], place: Place, evidence: Evidence): Operand[] {
  const notFiles = NOT_FILES.get(program);
  if (notFiles === 'all') return [];
  const access: Access = READERS.has(program) || (program === 'git' && GIT_READERS.has(argv[1] ?? '')) ? 'read' : 'unknown';
  const first = notFiles === undefined || argv.some((word) => isGiven(word, notFiles)) ? -1 : firstOperand(argv);
  const operands: Operand[] = [];
  // A program named by a path is a file too: running `./.env` uses it as much as `cat .env`.
  const named = (argv[0] ?? '').includes('/') ? 0 : 1;
  for (let word = named; word < argv.length; word++) {
    if (word === first) continue;
    for (const text of candidates(argv[word] ?? ''))
      for (const cwd of cwds) operands.push({ ...actionPath(text, cwd, place, access, evidence), word });
  }
  return operands;
}

// An option gave the pattern (`-e x`, `-nex`, `--regexp=x`, `--reg x`), so the first operand is a file like the others.
function isGiven(word: string, options: readonly string[]): boolean {
  const name = word.split('=', 1)[0] ?? '';
  return options.some((option) =>
    option.startsWith('--') ? name.length > 2 && option.startsWith(name) : /^-\w/.test(word) && word.slice(1).includes(option.slice(1)),
  );
}

function firstOperand(argv: readonly string[]): number {
  return argv.findIndex((word, index) => index > 0 && !word.startsWith('-'));
}

const SEPARATORS = ['=', ':', '@'] as const;
const NO_FILE = /^(-?\d+|always|never|auto|true|false)$/;

// `--file=x`, `-I/x`, `if=x`, `@x`, `HEAD:x`: every part that could be a file. A plain number or switch is none.
function candidates(word: string): string[] {
  if (word === '' || word === '-' || word === '--' || word.includes('://'))
    return /(^|=)file:\/\//i.test(word) ? [decode(word.slice(word.indexOf('://') + 3))] : [];
  const found: string[] = [];
  if (!word.startsWith('-')) found.push(word);
  else if (!word.startsWith('--') && word.length > 2 && /[/.~]/.test(word)) found.push(word.slice(2));
  for (const separator of SEPARATORS) {
    const at = word.indexOf(separator);
    if (at !== -1 && at < word.length - 1) found.push(word.slice(at + 1));
  }
  return found.length === 0 ? found : found.filter((text) => !NO_FILE.test(text));
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** A path as written and with its symlinks resolved. */
export function actionPath(text: string, cwd: string, place: Place, access: Access, evidence: Evidence) {
  const expanded = place.home === undefined ? text : text.replace(/^(?:~|\$HOME|\$\{HOME\})(?=\/|$)/, () => place.home ?? '');
  const written = resolvePath(cwd, expanded);
  // As the file system resolves it: `..` after a link leads up from the link's target, not from the link.
  const asWritten = expanded.startsWith('/') ? expanded : `${cwd}/${expanded}`;
  const followed = follow(asWritten, place);
  const path = followed ?? written;
  const folded = path === written ? ([path.toLowerCase()] as const) : ([path.toLowerCase(), written.toLowerCase()] as const);
  return { path, written, folded, access, evidence, ...(place.canonical && followed === undefined && { isUnfollowed: true as const }) };
}

function follow(path: string, { canonical }: Place): string | undefined {
  try {
    return canonical && resolvePath('/', canonical(path));
  } catch {
    return undefined;
  }
}

export function hostsOf(argv: readonly string[], meaning: Meaning): string[] {
  if (meaning.isUnderstood) return [...new Set(connections(meaning.effects))];
  return argv.flatMap((word) => {
    if (!word.includes('://')) return [];
    const url = /[a-z][a-z0-9+.-]*:\/\/\S+/i.exec(word)?.[0];
    const host = url === undefined ? undefined : hostOf(url);
    return host === undefined ? [] : [host];
  });
}

const connections = (effects: readonly Effect[]): readonly string[] =>
  effects.flatMap((effect) => {
    if (effect.kind === 'command' && effect.meaning.isUnderstood) return connections(effect.meaning.effects);
    return effect.kind === 'connect' && effect.host !== undefined ? [effect.host] : [];
  });
