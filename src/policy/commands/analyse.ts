// Reads a shell line as a list of commands, with every reason why the list may be incomplete.
import { type Command as CommandNode, forEachChild, type HereDoc, parse, type Redirection, type SyntaxNode } from 'unbash';
import type { Command, Evidence, Operand, Place } from '../actions/action.ts';
import { resolvePath } from '../paths/path.ts';
import { programName } from './command-pattern.ts';
import type { Meaning } from './effect.ts';
import { meaningOf } from './effects.ts';
import { isTameAssignment } from './environment.ts';
import { createWorkBudget, MAX_LINE_CHARACTERS, MOST, type WorkBudget } from './line-limits.ts';
import { crudeCommands, hasInvisible, hasLiveCharacter, hasLiveComment } from './line-text.ts';
import { actionPath, effectOperands, hostsOf, operandsOf } from './operands.ts';
import { unwrap } from './unwrap.ts';
import { readWord } from './words.ts';
import { STATE_BUILTINS } from './wrappers.ts';

export type Analysis = { readonly commands: readonly Command[]; readonly opaque: readonly string[]; readonly isUnreadable: boolean };

/** No person nests this deep. Beyond it the line is denied: giving up with an ask would weaken a deny. */
const MAX_NESTING = 24;
const MAX_CWDS = 16;
/** Beyond these a line is read for denies only. Each look-up on the disk holds up every session. */
const MAX_UNDERSTOOD = { words: 512, commands: 128, hereDocuments: 8, lookUps: 256 } as const;
const NULL_DEVICE = '/dev/null';

class Unreadable extends Error {}

type Reading = {
  readonly place: Place;
  readonly evidence: Evidence;
  readonly commands: Command[];
  readonly opaque: Set<string>;
  readonly budget: { words: number; hereDocuments: number };
  readonly work: WorkBudget;
  /** Parts of the line that are data: here-documents and their operators. */
  readonly data: { readonly start: number; readonly end: number }[];
};

/** Every command of a line in Bash's grammar. `cwd` is where the line starts. */
export function analyseLine(text: string, cwd: string, place: Place, evidence: Evidence): Analysis {
  return analysisOf(place, evidence, (reading) => readScript(reading, text, [cwd], 'line', 0));
}

/** One command that starts without a shell. A shell with one script, which is how agents run a line, is read as that line. */
export function analyseArgv(argv: readonly string[], cwd: string, place: Place, evidence: Evidence): Analysis {
  const [shell = '', option, script] = argv;
  const isLine = argv.length === 3 && /^(\/(usr\/)?bin\/)?(ba|z|da)?sh$/.test(shell) && /^-l?c$/.test(option ?? '');
  if (isLine && script !== undefined) return analyseLine(script, cwd, place, evidence);
  return analysisOf(place, evidence, (reading) => {
    const joined = argv.join(' ');
    if (joined.length > MAX_LINE_CHARACTERS) throw new Unreadable();
    if (hasInvisible(joined)) reading.opaque.add('control or invisible characters');
    addCommand(reading, { argv, isLiteral: true, cwds: [cwd], where: 'line', depth: 0 });
  });
}

function analysisOf(place: Place, evidence: Evidence, read: (reading: Reading) => void): Analysis {
  const budget = { words: MOST.words, hereDocuments: MAX_UNDERSTOOD.hereDocuments };
  const work = createWorkBudget();
  const reading: Reading = { place: withFewLookUps(place), evidence, commands: [], opaque: new Set(), budget, work, data: [] };
  let isUnreadable = false;
  try {
    read(reading);
  } catch (error) {
    // Deeper than the call stack is too deep as well.
    if (!(error instanceof Unreadable) && !(error instanceof RangeError)) throw error;
    isUnreadable = true;
    reading.opaque.add('too long or nested too deeply to be read');
  }
  if (reading.commands.length > MAX_UNDERSTOOD.commands || MOST.words - budget.words > MAX_UNDERSTOOD.words)
    reading.opaque.add('more words than are looked at');
  return { commands: reading.commands, opaque: [...reading.opaque], isUnreadable };
}

// The same path is looked up once. Beyond the limit a path counts as one that cannot be followed, and nothing allows it.
function withFewLookUps(place: Place): Place {
  const { canonical } = place;
  if (canonical === undefined) return place;
  const known = new Map<string, string>();
  return {
    ...place,
    canonical(path) {
      const before = known.get(path);
      if (before !== undefined) return before;
      if (known.size >= MAX_UNDERSTOOD.lookUps) throw new Error('more files than are looked up');
      const found = canonical(path);
      known.set(path, found);
      return found;
    },
  };
}

function readScript(reading: Reading, text: string, cwds: readonly string[], where: Command['where'], depth: number): void {
  if (depth > MAX_NESTING || !reading.work.script(text)) throw new Unreadable();
  if (hasInvisible(text)) reading.opaque.add('control or invisible characters');
  // Agents paste lines into scripts of their own, where the backslash would join the next line to this one.
  if (/(?:^|[^\\])(?:\\\\)*\\$/.test(text)) reading.opaque.add('a backslash at the end');
  if (reading.place.shell === 'unknown') reading.opaque.add("a shell whose grammar is not Bash's");
  const script = parse(text);
  if (script.errors !== undefined && script.errors.length > 0) reading.opaque.add('not valid Bash');
  if (reading.opaque.has('not valid Bash') || reading.place.shell === 'unknown')
    for (const argv of crudeCommands(text)) addCommand(reading, { argv, isLiteral: false, cwds, where: 'within', depth: depth + 1 });
  if (script.commands.length === 0 && where === 'line') reading.opaque.add('no command');
  let at = cwds;
  for (const statement of script.commands) {
    if (statement.background) reading.opaque.add('a background job');
    at = readNode(reading, statement.command, at, where, depth);
  }
  if (text.includes('#') && hasLiveComment(withoutData(text, reading))) reading.opaque.add('a comment that some shells read as words');
  // The parser found nothing, the text check did: one of them is wrong, and the stricter one counts.
  if (reading.opaque.size === 0 && hasLiveCharacter(withoutData(text, reading)))
    reading.opaque.add('a construct that is not a plain command');
}

function withoutData(text: string, { data }: Reading): string {
  return [...data].sort((a, b) => b.start - a.start).reduce((rest, { start, end }) => `${rest.slice(0, start)} ${rest.slice(end)}`, text);
}

/** Returns the directories a later command may run in. */
function readNode(reading: Reading, node: SyntaxNode, cwds: readonly string[], where: Command['where'], depth: number): readonly string[] {
  switch (node.type) {
    case 'Command':
      return readCommand(reading, node, cwds, where, depth);
    case 'AndOr': {
      let at = cwds;
      for (const [index, command] of node.commands.entries()) {
        // After `&&` a `cd` succeeded; after `||` it may have failed.
        const moved = readNode(reading, command, at, where, depth);
        at = node.operators[index] === '&&' && command.type === 'Command' ? certain(at, moved) : moved;
      }
      return at;
    }
    case 'Pipeline': {
      for (const prefix of node.prefixes) if (prefix.type === 'Time') reading.opaque.add('"time"');
      if (node.commands.length === 0) reading.opaque.add('not valid Bash'); // a lone `!`, which unbash 6.0.3 lets pass
      // Each part of a pipeline runs in a shell of its own, except the last one in zsh and all of them in fish.
      let at = cwds;
      for (const command of node.commands) at = union([at, readNode(reading, command, at, where, depth)]);
      return at;
    }
    default:
      reading.opaque.add(NODE_REASONS[node.type] ?? 'a construct that is not a plain command');
      return readInside(reading, node, cwds, depth);
  }
}

const NODE_REASONS: Partial<Record<SyntaxNode['type'], string>> = {
  If: 'a condition',
  For: 'a loop',
  ArithmeticFor: 'a loop',
  While: 'a loop',
  Select: 'a loop',
  Case: 'a condition',
  Function: 'a function definition',
  Subshell: 'a subshell',
  BraceGroup: 'a group',
  Coproc: 'a background job',
  TestCommand: 'a [[ ]] test',
  ArithmeticCommand: 'an arithmetic command',
};

// Finds the commands inside any construct.
function readInside(reading: Reading, node: SyntaxNode, cwds: readonly string[], depth: number): readonly string[] {
  if (depth > MAX_NESTING) throw new Unreadable();
  let at = cwds;
  forEachChild(node, (child) => {
    if (child.type === 'Script' && child.errors !== undefined && child.errors.length > 0) reading.opaque.add('not valid Bash');
    if (child.type === 'Command') at = union([at, readCommand(reading, child, at, 'within', depth + 1)]);
    else at = union([at, readInside(reading, child, at, depth + (isNesting(child) ? 1 : 0))]);
  });
  if (node.type === 'Redirect') readRedirect(reading, node, at, []);
  return at;
}

const isNesting = ({ type }: SyntaxNode): boolean => type === 'Script' || type === 'CompoundList' || type === 'Word';

function readCommand(
  reading: Reading,
  node: CommandNode,
  cwds: readonly string[],
  where: Command['where'],
  depth: number,
): readonly string[] {
  const words = [...(node.name ? [node.name] : []), ...node.suffix];
  const argv: string[] = [];
  const globs: number[] = [];
  let isLiteral = true;
  for (const word of words) {
    if (word.type === 'Word') {
      const { text, opaque } = readWord(word, reading.place, { pwd: pwdIn(cwds), isPrinted: argv[0] === 'echo' });
      if (opaque === 'a file name pattern' && OPTION_WITH_GLOB.test(word.text)) {
        globs.push(argv.length);
        argv.push(word.text);
        continue;
      }
      argv.push(text);
      if (opaque === undefined) continue;
      reading.opaque.add(opaque);
      isLiteral = false;
      if (word.parts !== undefined) readInside(reading, word, cwds, depth + 1);
    } else if (word.type === 'Assignment') {
      argv.push(word.text);
      reading.opaque.add('a variable is set');
      isLiteral = false;
      readInside(reading, word, cwds, depth + 1);
    }
  }
  const redirects: Operand[] = [];
  for (const part of node.prefix.length > 0 || node.suffix.length > 0 ? [...node.prefix, ...node.suffix] : []) {
    if (part.type === 'Word' || (part.type === 'Assignment' && node.suffix.includes(part))) continue;
    if (part.type === 'Assignment') {
      if (isTameAssignment(part.text)) continue;
      reading.opaque.add('a variable is set');
      readInside(reading, part, cwds, depth + 1);
    } else {
      // In dash `a &>/dev/null b` starts a in the background, and then runs b.
      if (part.type === 'Redirect' && part.operator.startsWith('&') && words.some(({ pos }) => pos > part.pos))
        reading.opaque.add('a redirection that shells read differently');
      readRedirect(reading, part, cwds, redirects);
      if (part.type !== 'Redirect' || part.target?.parts !== undefined) readInside(reading, part, cwds, depth + 1);
    }
  }
  if (node.name === undefined && redirects.length === 0) return cwds;
  return addCommand(reading, { argv, isLiteral, cwds, where, redirects, depth, globs });
}

/** Whatever the shell makes of it still begins with the option: `--include=*.ts`. */
const OPTION_WITH_GLOB = /^--[a-z][\w-]*=[\w./-]*\*[\w./*-]*$/;

const MAX_GLOBS = 32;

const pwdIn = (cwds: readonly string[]): string | undefined => (cwds.length === 1 ? cwds[0] : undefined);

function readRedirect(reading: Reading, part: Redirection, cwds: readonly string[], operands: Operand[]): void {
  if (part.type === 'HereDoc') readHereDocument(reading, part);
  else if (part.type === 'HereString') reading.opaque.add('a here-string');
  else if (part.target === undefined) reading.opaque.add('a redirection without its target');
  else {
    const { text, opaque } = readWord(part.target, reading.place, { pwd: pwdIn(cwds) });
    const isNamed = part.descriptor?.type === 'FileDescriptorVariable';
    if (opaque === undefined && !isNamed && /^[<>]&$/.test(part.operator) && /^[012]$/.test(text)) return; // 2>&1
    if (opaque === undefined && !isNamed && text === NULL_DEVICE && part.operator !== '<>') return;
    // Other operators mean different things in other shells: in dash `&>` starts a background job.
    // Bash connects to `/dev/tcp/host/port`.
    const isFile = text !== '' && !/^\/+dev\/+(tcp|udp)\//.test(text);
    const isPlain = !isNamed && /^(>>?|<)$/.test(part.operator) && opaque === undefined && isFile;
    const isStandard =
      part.descriptor === undefined || /^[012]$/.test(part.descriptor.type === 'FileDescriptor' ? String(part.descriptor.value) : '');
    if (!isPlain || !isStandard) reading.opaque.add('a redirection that shells read differently');
    if (opaque !== undefined) reading.opaque.add(opaque);
    reading.budget.words--;
    if (reading.budget.words < 0 || !reading.work.redirection(cwds.length)) throw new Unreadable();
    const access = part.operator === '<' ? 'read' : 'write';
    for (const cwd of cwds) operands.push({ ...actionPath(text, cwd, reading.place, access, reading.evidence), word: -1 });
  }
}

// Text for standard input, if the shell leaves it as it is.
function readHereDocument(reading: Reading, { delimiter, body, closing, operator, pos }: HereDoc): void {
  reading.budget.hereDocuments--;
  const isText = delimiter !== undefined && (delimiter.quoted || !/[$`\\]/.test(body.text));
  const isClear = isText && closing !== undefined && operator === '<<' && /^['"]?\w+['"]?$/.test(delimiter.text);
  if (!isClear || reading.budget.hereDocuments < 0) reading.opaque.add('a here-document');
  else reading.data.push({ start: pos, end: delimiter.end }, { start: body.pos, end: closing.end });
}

/** A command as it was read. `globs` are the indexes of words with a file name pattern. */
type Read = Pick<Command, 'argv' | 'isLiteral' | 'cwds' | 'where'> &
  Partial<Pick<Command, 'redirects'>> & { readonly depth: number; readonly globs?: readonly number[] };

/** Returns the directories that the next command may run in. */
function addCommand(reading: Reading, { argv, isLiteral, cwds, where, redirects = [], depth, globs = [] }: Read): readonly string[] {
  reading.budget.words -= argv.length;
  if (depth > MAX_NESTING || reading.commands.length >= MOST.commands || reading.budget.words < 0) throw new Unreadable();
  if (!reading.work.command(argv, cwds.length)) throw new Unreadable();
  const { place, evidence } = reading;
  const program = programName(argv[0] ?? '');
  const meaning: Meaning = isLiteral ? meaningOf(argv) : NOT_LITERAL;
  if (globs.length > MAX_GLOBS || globs.some((index) => !isHarmlessGlob(meaning, index))) reading.opaque.add('a file name pattern');
  const used = meaning.isUnderstood ? effectOperands(meaning, cwds, place, evidence) : operandsOf(program, argv, cwds, place, evidence);
  const operands = [...used, ...redirects];
  if (!reading.work.files(operands.length)) throw new Unreadable();
  reading.commands.push({ argv, isLiteral, program, where, evidence, cwds, operands, redirects, hosts: hostsOf(argv, meaning), meaning });
  if (STATE_BUILTINS.has(program)) reading.opaque.add(`"${program}" changes what later commands mean`);
  let after = cwds;
  for (const inner of unwrap(argv)) {
    if (inner.kind === 'code') {
      // The table knows the small languages: what is understood is no unread code.
      if (!meaning.isUnderstood) reading.opaque.add(inner.reason);
    } else if (inner.kind === 'words') {
      const moved = addCommand(reading, { argv: inner.argv, isLiteral, cwds, where: 'within', depth: depth + 1 });
      // `command cd x` changes the directory of this shell.
      if (program === 'command' || program === 'builtin') after = moved;
    } else readNested(reading, inner.text, cwds, depth + 1);
  }
  return program === 'cd' ? afterCd(reading, argv, isLiteral, cwds) : after;
}

const NOT_LITERAL: Meaning = { isUnderstood: false, isKnown: false, word: '', reason: 'the shell puts something in' };

/** A pattern for names or contents stays one, whatever the shell makes of it. */
function isHarmlessGlob(meaning: Meaning, index: number): boolean {
  if (!meaning.isUnderstood) return false;
  const given = meaning.parsed.given.find(({ word }) => word.index === index);
  return given?.isAttached === true && given.option.types.every((type) => type === 'pattern' || type === 'text');
}

// Code in a string is never allowed, so its own reasons do not matter. The commands it starts do.
function readNested(reading: Reading, text: string, cwds: readonly string[], depth: number): void {
  reading.opaque.add('a command line inside a word');
  const nested: Reading = { ...reading, opaque: new Set() };
  readScript(nested, text, cwds, 'within', depth);
}

function afterCd(reading: Reading, argv: readonly string[], isLiteral: boolean, cwds: readonly string[]): readonly string[] {
  const operands = argv.slice(1).filter((word) => !/^-[LPe@]+$|^--$/.test(word));
  const [target] = operands;
  const { home } = reading.place;
  const isKnown = isLiteral && operands.length === 1 && target !== undefined && target !== '-' && target !== '';
  if (!isKnown) reading.opaque.add('a change to a directory that is not known');
  const goal = target === undefined ? home : target === '-' ? undefined : target;
  const reached = goal === undefined ? [...(home === undefined ? [] : [home]), '/'] : cwds.map((cwd) => directoryAt(reading, goal, cwd));
  const all = union([cwds, reached.map((path) => resolvePath('/', path))]);
  if (all.length <= MAX_CWDS) return all;
  reading.opaque.add('too many changes of directory');
  return [...all.slice(0, 2), ...all.slice(2 - MAX_CWDS)];
}

function directoryAt(reading: Reading, goal: string, cwd: string): string {
  const { path, isUnfollowed } = actionPath(goal, cwd, reading.place, 'read', 'raw');
  if (isUnfollowed) reading.opaque.add('a change to a directory that is not known');
  return path;
}

// The directories a `cd` added, without the one it started from; unchanged if it added none (any other command, or `cd .`).
function certain(before: readonly string[], after: readonly string[]): readonly string[] {
  const added = after.filter((cwd) => !before.includes(cwd));
  return added.length > 0 ? added : after;
}

function union(lists: readonly (readonly string[])[]): readonly string[] {
  const [first = []] = lists;
  return lists.every((list) => list === first) ? first : [...new Set(lists.flat())];
}
