// Reads the output of `strace -f -y` as what a command did to files, programs and the network.
import path from 'node:path';

export type Observed = {
  /** `look` is metadata only, `list` the names in a directory. */
  readonly kind: 'read' | 'look' | 'list' | 'write' | 'delete' | 'execute' | 'connect';
  /** The file with links resolved, the program, or the address. */
  readonly path: string;
  readonly argv?: readonly string[];
  readonly pid: number;
  /** The processes above it. */
  readonly ancestors: readonly number[];
  /** The system call, for reports. */
  readonly call: string;
  /** The file was made by this call: it did not exist before. */
  readonly isNew?: boolean;
  /** For a rename: the old name. */
  readonly from?: string;
};

type Call = { readonly pid: number; readonly name: string; readonly args: string; readonly result: string };

/** Joins calls that another process interrupted: `openat(… <unfinished ...>` and `<... openat resumed>…`. */
function callsIn(text: string): Call[] {
  const calls: Call[] = [];
  const open = new Map<number, string>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    const pid = Number(line.slice(0, space));
    let rest = line.slice(space).trimStart();
    if (!Number.isInteger(pid) || rest.startsWith('+++') || rest.startsWith('---')) continue;
    if (rest.endsWith('<unfinished ...>')) {
      open.set(pid, rest.slice(0, -'<unfinished ...>'.length));
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>/.exec(rest);
    if (resumed !== null) {
      rest = `${open.get(pid) ?? ''}${rest.slice(resumed[0].length)}`;
      open.delete(pid);
    }
    const match = /^(\w+)\((.*)\)\s+= (.*)$/s.exec(rest);
    if (match) calls.push({ pid, name: match[1] as string, args: match[2] as string, result: match[3] as string });
  }
  return calls;
}

/** Splits arguments at commas outside of strings, brackets and the paths of descriptors. */
function argumentsOf(args: string): string[] {
  const found: string[] = [];
  let start = 0;
  let depth = 0;
  let isText = false;
  for (let at = 0; at < args.length; at++) {
    const letter = args[at];
    if (isText) {
      if (letter === '\\') at++;
      else if (letter === '"') isText = false;
    } else if (letter === '"') isText = true;
    else if (letter === '<') at = Math.max(at, args.indexOf('>', at));
    else if (letter === '[' || letter === '{' || letter === '(') depth++;
    else if (letter === ']' || letter === '}' || letter === ')') depth--;
    else if (letter === ',' && depth === 0) {
      found.push(args.slice(start, at).trim());
      start = at + 1;
    }
  }
  found.push(args.slice(start).trim());
  return found;
}

const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r', v: '\v', f: '\f' };

function textOf(argument = ''): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"/s.exec(argument)?.[1] ?? '';
  const bytes = quoted.replace(/\\([0-7]{1,3}|.)/gs, (_, escaped: string) =>
    /^[0-7]/.test(escaped) ? String.fromCharCode(Number.parseInt(escaped, 8)) : (ESCAPES[escaped] ?? escaped),
  );
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

const descriptorPath = (argument = ''): string | undefined =>
  /^(?:AT_FDCWD|-?\d+)<([^>]*)>/.exec(argument)?.[1]?.replace(/ \(deleted\)$/, '');

/** How a call names its file: by a path alone, or by a directory and a path, and at which arguments. */
const AT = { one: [undefined, 0], at: [0, 1] } as const;
const LOOKS = /^(?:l?stat|newfstatat|statx|access|faccessat2?|readlink(?:at)?|l?getxattr|l?listxattr)$/;
const CHANGES =
  /^(?:truncate|chmod|fchmodat2?|l?chown|fchownat|utimensat|utimes|futimesat|utime|mknod(?:at)?|mkdir(?:at)?|l?setxattr|l?removexattr)$/;
const REMOVES = /^(?:unlink(?:at)?|rmdir)$/;

export type TraceReader = { readonly cwd: string; readonly resolve: (file: string) => string };

/** `resolve` follows links: calls that do not open the file print the name as it was given. */
export function readTrace(text: string, { cwd, resolve }: TraceReader): Observed[] {
  const observed: Observed[] = [];
  const directories = new Map<number, string>();
  const calls = callsIn(text);
  // A child may act before its parent hears of it.
  const parents = new Map(
    calls.flatMap(({ pid, name, result }) =>
      /^(?:clone3?|v?fork)$/.test(name) && Number(result) > 0 ? [[Number(result), pid] as const] : [],
    ),
  );
  const above = (pid: number): readonly number[] => {
    const parent = parents.get(pid);
    return parent === undefined ? [] : [parent, ...above(parent)];
  };
  const directoryOf = (pid: number): string => {
    const own = directories.get(pid);
    if (own !== undefined) return own;
    const parent = parents.get(pid);
    return parent === undefined ? cwd : directoryOf(parent);
  };
  for (const { pid, name, args, result } of calls) {
    const given = argumentsOf(args);
    const hasFailed = result.startsWith('-1') || result.startsWith('?');
    const at = (directory: number | undefined, file: number): string => {
      const base = (directory === undefined ? undefined : descriptorPath(given[directory])) ?? directoryOf(pid);
      return path.resolve(base, textOf(given[file]));
    };
    const named = (): string => (/at2?$|^statx$/.test(name) ? at(...AT.at) : at(...AT.one));
    const push = (kind: Observed['kind'], file: string, more: Partial<Observed> = {}) =>
      observed.push({ kind, path: file, pid, ancestors: above(pid), call: name, ...more });
    if (name === 'connect' || name === 'sendto' || name === 'sendmsg' || name === 'sendmmsg') {
      const address = addressIn(args, hasFailed);
      if (address !== undefined) push('connect', address);
      continue;
    }
    if (hasFailed) continue;
    if (/^(?:clone3?|v?fork)$/.test(name)) {
      if (!/CLONE_FS/.test(args)) directories.set(Number(result), directoryOf(pid));
    } else if (name === 'chdir') directories.set(pid, resolve(at(...AT.one)));
    else if (name === 'fchdir') directories.set(pid, descriptorPath(given[0]) ?? cwd);
    else if (name === 'execve' || name === 'execveat') {
      const list = /^\[(.*)\]$/s.exec(given[name === 'execve' ? 1 : 2] ?? '')?.[1] ?? '';
      push('execute', named(), { argv: list === '' ? [] : argumentsOf(list).map(textOf) });
    } else if (/^(?:open|openat2?|creat)$/.test(name)) {
      const file = /^\d+<(.*)>$/.exec(result)?.[1]?.replace(/ \(deleted\)$/, '') ?? named();
      if (/\bO_PATH\b|\bO_DIRECTORY\b/.test(args)) continue;
      const isWrite = /\bO_(?:WRONLY|RDWR|CREAT|TRUNC|TMPFILE)\b/.test(args) || name === 'creat';
      push(isWrite ? 'write' : 'read', file, { isNew: /\bO_EXCL\b/.test(args) });
    } else if (/^getdents(?:64)?$/.test(name)) {
      const directory = descriptorPath(given[0]);
      if (directory !== undefined) push('list', directory);
    } else if (/^f(?:truncate|chmod|chown|setxattr)$/.test(name)) {
      const file = descriptorPath(given[0]);
      if (file?.startsWith('/')) push('write', file);
    } else if (REMOVES.test(name)) push('delete', nameItself(named(), resolve));
    else if (CHANGES.test(name)) push('write', /^l|NOFOLLOW|^mk/.test(`${name} ${args}`) ? nameItself(named(), resolve) : resolve(named()));
    else if (/^rename(?:at2?)?$/.test(name)) {
      const from = nameItself(name === 'rename' ? at(...AT.one) : at(...AT.at), resolve);
      const to = nameItself(name === 'rename' ? at(undefined, 1) : at(2, 3), resolve);
      push('delete', from);
      push('write', to, { from });
    } else if (/^link(?:at)?$/.test(name)) {
      push('write', nameItself(name === 'link' ? at(undefined, 1) : at(2, 3), resolve));
      push('read', nameItself(name === 'link' ? at(...AT.one) : at(...AT.at), resolve));
    } else if (/^symlink(?:at)?$/.test(name)) push('write', nameItself(name === 'symlink' ? at(undefined, 1) : at(1, 2), resolve));
    else if (LOOKS.test(name) && !/AT_EMPTY_PATH/.test(args))
      push('look', /^l|^readlink|NOFOLLOW/.test(`${name} ${args}`) ? nameItself(named(), resolve) : resolve(named()));
  }
  return observed;
}

/** The name itself, which may be a link, in the directory that its path leads to. */
const nameItself = (file: string, resolve: TraceReader['resolve']): string => path.join(resolve(path.dirname(file)), path.basename(file));

/** The address of an internet socket, also if nothing answered; of a local socket only if it was there. */
function addressIn(args: string, hasFailed: boolean): string | undefined {
  // Port 0: the resolver asks the kernel for its own address, and sends nothing.
  if (/sin6?_port=htons\(0\)/.test(args)) return undefined;
  const address = /inet_addr\("([^"]+)"\)|inet_pton\(AF_INET6, "([^"]+)"/.exec(args);
  if (address) return address[1] ?? address[2];
  const local = /sun_path=@?"([^"]+)"/.exec(args)?.[1];
  return local === undefined || hasFailed ? undefined : local;
}
