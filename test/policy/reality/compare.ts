// Compares what a command did with what the program table says it does.
import path from 'node:path';
import type { FilePrediction, Predicted } from './predict.ts';
import { CANARIES, HOME, PROJECT, ROOT } from './template.ts';
import type { Observed } from './trace.ts';

/** What every program does that no table states, by path prefix. Programs that are started and connections have no such list. */
type Noise = { readonly prefix: RegExp; readonly why: string };

const READ_NOISE: readonly Noise[] = [
  { prefix: /^\/(?:usr|lib|lib64|bin|sbin)(?:\/|$)/, why: 'the program itself, its libraries, locales and other files of its package' },
  {
    prefix: /^\/etc\/(?:ld\.so\.|localtime$|alternatives\/|locale\.alias$)/,
    why: 'the loader, the time zone, which program a name stands for',
  },
  { prefix: /^\/etc\/(?:nsswitch\.conf|passwd|group|host\.conf|hosts|resolv\.conf|services|protocols)$/, why: 'names of users and hosts' },
  {
    prefix: /^\/etc\/(?:magic|magic\.mime|inputrc|terminfo\/|ssl\/|ca-certificates)/,
    why: 'data of the system that programs look things up in',
  },
  { prefix: /^\/(?:proc|sys)(?:\/|$)/, why: 'facts about the process and the machine' },
  { prefix: /^\/dev\/(?:null|zero|full|u?random|tty|pts\/|stdin|stdout|stderr|fd\/)/, why: 'devices and the terminal' },
  { prefix: /^(?:pipe|socket|anon_inode|memfd):?/, why: 'no file' },
];

const WRITE_NOISE: readonly Noise[] = [
  { prefix: /^\/dev\/(?:null|zero|full|tty|pts\/|stdout|stderr|ptmx|shm\/)/, why: 'devices and the terminal' },
  { prefix: /^\/proc\/self\//, why: 'the process itself' },
  { prefix: /^(?:pipe|socket|anon_inode|memfd):?/, why: 'no file' },
];

const isNoise = (list: readonly Noise[], file: string): boolean => list.some(({ prefix }) => prefix.test(file));

export type Facts = {
  readonly program: string;
  /** git's own files of the project. */
  readonly tracked: ReadonlySet<string>;
  /** `git add` and the like read files that are not tracked yet. */
  readonly addsFiles: boolean;
  readonly isDirectory: (file: string) => boolean;
  /** Names of hosts by address. */
  readonly hosts: ReadonlyMap<string, string>;
  readonly existed: (file: string) => boolean;
  readonly exists: (file: string) => boolean;
  /** Links of the template and where they lead. */
  readonly links: readonly (readonly [string, string])[];
};

/** What was observed and not predicted. */
export function unpredicted(observed: readonly Observed[], predicted: readonly Predicted[], facts: Facts): Observed[] {
  const free = new Set<number>();
  const found: Observed[] = [];
  const files = predicted.filter((one): one is FilePrediction => 'effect' in one);
  const [own] = observed;
  for (const one of observed) {
    if (free.has(one.pid) || one.ancestors.some((pid) => free.has(pid))) continue;
    switch (one.kind) {
      case 'execute': {
        if (one === own && path.basename(one.path) === facts.program) break;
        const reason = startedBy(one, predicted);
        if (reason === undefined) found.push(one);
        // What the project's code and programs of the configuration do is theirs: no table can state it.
        else if (reason === 'opaque') free.add(one.pid);
        break;
      }
      case 'connect': {
        const host = facts.hosts.get(one.path) ?? one.path;
        if (!predicted.some((prediction) => prediction.kind === 'connect' && (prediction.host === undefined || prediction.host === host)))
          found.push(one);
        break;
      }
      case 'read':
      case 'look':
      case 'list':
        if (!isNoise(READ_NOISE, one.path) && !isRead(one, files, facts) && !isOwnTemporary(one, files, facts, observed)) found.push(one);
        break;
      default:
        if (!isNoise(WRITE_NOISE, one.path) && !isWritten(one, files, facts, observed)) found.push(one);
    }
  }
  return unique(found);
}

function unique(found: readonly Observed[]): Observed[] {
  const seen = new Set<string>();
  return found.filter(({ kind, path: file }) => !seen.has(`${kind} ${file}`) && seen.add(`${kind} ${file}`));
}

/** `opaque`: a program whose own effects no table states. */
function startedBy({ path: file, argv = [] }: Observed, predicted: readonly Predicted[]): 'opaque' | 'known' | undefined {
  if (predicted.some(({ kind }) => kind === 'project')) return 'opaque';
  const runs = predicted.flatMap((one) => (one.kind === 'run' ? [one.program] : []));
  // Programs that git's configuration names are canaries, which say what they stand for; git starts some of them through a shell.
  const canary = [file, ...argv].map((word) => new RegExp(`${CANARIES}/git-([\\w-]+)`).exec(word)?.[1]).find((name) => name !== undefined);
  if (canary !== undefined)
    return runs.includes(`git:${canary}`) || (canary === 'signature-check' && runs.includes('git:signing')) ? 'opaque' : undefined;
  if (argv.some((word) => /^\.git\/hooks\/|\/\.git\/hooks\//.test(word)) || /\.git\/hooks\//.test(file))
    return runs.includes('git:hooks') ? 'opaque' : undefined;
  const name = path.basename(file);
  const own = gitsOwn(name, argv);
  if (own !== undefined && runs.includes(own)) return 'known';
  if (runs.some((run) => run === name || run === file)) return 'known';
  return undefined;
}

/** Parts of git that the table names by what they are for. */
function gitsOwn(name: string, argv: readonly string[]): string | undefined {
  const words = argv.join(' ');
  if (/git[- ](?:upload-pack|receive-pack|remote-https?|fetch-pack|send-pack|index-pack|unpack-objects|rev-list)\b/.test(words))
    return 'git:transport';
  if (name === 'git' && /\b(?:maintenance|gc|repack|prune|pack-refs)\b/.test(words)) return 'git:maintenance';
  if (name === 'git' && /submodule--helper|--super-prefix/.test(words)) return 'git:submodules';
  return undefined;
}

const below = (root: string, file: string): boolean => file === root || file.startsWith(root === '/' ? '/' : `${root}/`);

function isRead(one: Observed, files: readonly FilePrediction[], facts: Facts): boolean {
  if (one.kind !== 'list' && facts.isDirectory(one.path)) return true;
  // fd looks whether its pattern is the name of a file, to say so.
  if (one.kind === 'look' && /^fd(?:find)?$/.test(facts.program)) return true;
  // Programs look at the directories above, and for files that may be anywhere; only files of the sandbox tell.
  if (one.kind === 'look' && (!below(ROOT, one.path) || isDerived(one, files) || isLinkTarget(one, files, facts))) return true;
  return files.some((prediction) => {
    const { kind, effect } = prediction;
    if (kind === 'modify' && one.kind === 'read' && isDerived(one, [prediction])) return true;
    // For the number of a backup.
    if (kind === 'write' && one.kind === 'list' && path.dirname(prediction.path) === one.path) return true;
    if (effect.path.startsWith('any:')) return one.path.endsWith(`/${effect.path.slice(4)}`);
    // `ln` makes another name of a link itself.
    const isLink = one.kind === 'look' || one.call === 'linkat';
    const isSame = prediction.path === one.path || (isLink && prediction.written === one.path);
    if (isSame) return one.kind !== 'read' || kind !== 'names';
    switch (kind) {
      case 'walk':
        return effect.isPattern ? isMatched(one, effect.path) : isReachedByWalk(one, prediction, facts);
      case 'names':
        return one.kind !== 'read' && isReachedByWalk(one, prediction, facts);
      case 'unpack':
      case 'delete':
      case 'move':
      case 'write':
        return below(prediction.path, one.path);
      case 'read':
        // git's word for a directory is everything tracked below it.
        return effect.isTracked === true && isTrackedRead(one, prediction, facts);
      default:
        return false;
    }
  });
}

function isReachedByWalk(one: Observed, { path: root, effect }: FilePrediction, facts: Facts): boolean {
  if (!below(root, one.path)) return effect.walks?.has('follows') === true;
  const rest = one.path.slice(root.length);
  if (effect.isTracked && below(PROJECT, root))
    return below(`${PROJECT}/.git`, one.path) || one.kind !== 'read' || facts.tracked.has(one.path);
  const isHidden = /\/\.[^/]/.test(rest);
  const isIgnored = /\/ignored(?:\/|$)|\.log$/.test(rest);
  const seesAll = (effect.globs?.length ?? 0) > 0;
  if (one.kind === 'look') return true;
  return (!isHidden || seesAll || effect.walks?.has('hidden') === true) && (!isIgnored || seesAll || effect.walks?.has('ignored') === true);
}

/** git's wildcards match in every directory. */
function isMatched(one: Observed, pattern: string): boolean {
  const source = pattern.replace(/[.+^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*');
  return below(PROJECT, one.path) && new RegExp(`^${source}$`).test(one.path.slice(PROJECT.length + 1));
}

function isTrackedRead(one: Observed, { path: root, effect }: FilePrediction, facts: Facts): boolean {
  if (one.kind === 'read' && !facts.tracked.has(one.path) && !facts.addsFiles) return false;
  return effect.isPattern === true || below(root, one.path);
}

function isWritten(one: Observed, files: readonly FilePrediction[], facts: Facts, observed: readonly Observed[]): boolean {
  if (isTemporary(one, files, facts, observed)) return true;
  return files.some((prediction) => {
    switch (prediction.kind) {
      case 'write':
      case 'append':
        return (
          prediction.path === one.path ||
          (facts.isDirectory(prediction.path) && below(prediction.path, one.path)) ||
          isBackup(one, prediction) ||
          isMadeFrom(prediction.path, one.path)
        );
      case 'modify':
        // A longer name is a backup (`x.orig`), a shorter one a file of its own. A link itself is replaced, or what it leads to.
        return [prediction.path, prediction.written].some(
          (file) => file === one.path || (path.dirname(file) === path.dirname(one.path) && one.path.startsWith(file)),
        );
      case 'delete':
      case 'move':
        return one.kind === 'delete' && (below(prediction.path, one.path) || below(prediction.written, one.path));
      case 'unpack':
        return below(prediction.path, one.path);
      default:
        return false;
    }
  });
}

/** `x.gz` for `x`: a program looks whether the file that it is about to make is there. */
const isDerived = (one: Observed, files: readonly FilePrediction[]): boolean =>
  files.some(
    (prediction) =>
      path.dirname(prediction.path) === path.dirname(one.path) &&
      (one.path.startsWith(prediction.path) || prediction.path.startsWith(one.path)),
  );

/** A listing shows where links lead. */
const isLinkTarget = (one: Observed, files: readonly FilePrediction[], { links }: Facts): boolean =>
  links.some(
    ([link, target]) =>
      below(target, one.path) && files.some(({ kind, path: root }) => (kind === 'walk' || kind === 'names') && below(root, link)),
  );

/** With one of the suffixes that the table allows. */
const isBackup = (one: Observed, { path: file }: FilePrediction): boolean =>
  one.path.startsWith(file) && /^(?:~|\.~\d+~|\.bak|\.orig|\.old)$/.test(one.path.slice(file.length));

/** `mktemp` replaces the last run of `X`, and may add a suffix. */
function isMadeFrom(template: string, file: string): boolean {
  const [, before, run = '', after] = /^(.*?)(X{3,})([^X/]*)$/.exec(template) ?? [];
  return (
    before !== undefined &&
    file.startsWith(before) &&
    /^\w+/.test(file.slice(before.length, before.length + run.length)) &&
    file.slice(before.length + run.length).startsWith(after ?? '')
  );
}

/** A file that the command made itself and that is gone at the end, in the temporary directory or next to a file that it may write. */
function isTemporary(one: Observed, files: readonly FilePrediction[], facts: Facts, observed: readonly Observed[]): boolean {
  if (facts.existed(one.path) || facts.exists(one.path)) return false;
  if (below('/tmp', one.path)) return true;
  const directory = path.dirname(one.path);
  return (
    files.some(
      ({ kind, path: file, written }) =>
        ['write', 'modify', 'append'].includes(kind) && [path.dirname(file), path.dirname(written), file].includes(directory),
    ) || observed.some(({ from, path: to }) => from === one.path && files.some(({ kind, path: file }) => file === to && kind !== 'read'))
  );
}

/** `sort` reads its temporary files again. */
const isOwnTemporary = (one: Observed, files: readonly FilePrediction[], facts: Facts, observed: readonly Observed[]): boolean =>
  observed.some(({ kind, path: file }) => kind === 'write' && file === one.path) && isTemporary(one, files, facts, observed);

/** Effects that the policy of the run forbids: files that it denies or that are outside the project, unless the program does it unasked. */
export function forbidden(observed: readonly Observed[], predicted: readonly Predicted[]): Observed[] {
  const unasked = new Set(predicted.flatMap((one) => ('effect' in one && one.effect.by === 'unasked' ? [one.path] : [])));
  return unique(
    observed.filter(
      ({ kind, path: file }) =>
        !unasked.has(file) &&
        (kind === 'read' || kind === 'write') &&
        below(ROOT, file) &&
        (/\/(?:\.env[^/]*|[^/]*\.pem|id_rsa|\.netrc)$/.test(file) || below(`${HOME}/outside`, file)),
    ),
  );
}
