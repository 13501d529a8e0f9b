// Programs whose arguments are more than words: those that start another command, and those that run code. The tables decide where deny
// rules look and what an open allow does not cover. A program that is missing here is ordinary.

/** How to skip a wrapper's own words to reach the command it starts. */
export type Wrapper = {
  /** Options that take the next word as their value. */
  readonly values?: readonly string[];
  /** The wrapper's operands before the command: the seconds of `timeout`, the host of `ssh`. */
  readonly operands?: number;
  /** `words`: an argv follows. `script`: the rest is joined and read by a shell. */
  readonly takes: 'words' | 'script';
  /** Only after one of these subcommands. */
  readonly subcommands?: readonly string[];
};

const plain: Wrapper = { takes: 'words' };

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    'sudo',
    {
      takes: 'words',
      values: ['-u', '-g', '-h', '-p', '-C', '-r', '-t', '-T', '-U', '-D', '-R', '--user', '--group', '--chdir', '--host'],
    },
  ],
  ['doas', { takes: 'words', values: ['-u', '-C'] }],
  ['su', { takes: 'script', operands: 1 }],
  ['runuser', { takes: 'words', values: ['-u', '-g'] }],
  ['pkexec', { takes: 'words', values: ['--user'] }],
  ['env', { takes: 'words', values: ['-u', '--unset', '-C', '--chdir', '-S', '--split-string'] }],
  ['timeout', { takes: 'words', values: ['-s', '--signal', '-k', '--kill-after'], operands: 1 }],
  ['gtimeout', { takes: 'words', values: ['-s', '--signal', '-k', '--kill-after'], operands: 1 }],
  ['nohup', plain],
  ['setsid', plain],
  ['nice', { takes: 'words', values: ['-n', '--adjustment'] }],
  ['ionice', { takes: 'words', values: ['-c', '-n', '--class', '--classdata'] }],
  ['chrt', { takes: 'words', operands: 1 }],
  ['taskset', { takes: 'words', operands: 1 }],
  ['stdbuf', { takes: 'words', values: ['-i', '-o', '-e'] }],
  ['unbuffer', plain],
  ['time', { takes: 'words', values: ['-f', '-o', '--format', '--output'] }],
  ['command', plain],
  ['builtin', plain],
  ['exec', { takes: 'words', values: ['-a'] }],
  ['eval', { takes: 'script' }],
  ['trap', { takes: 'script' }],
  ['watch', { takes: 'script', values: ['-n', '--interval'] }],
  [
    'xargs',
    { takes: 'words', values: ['-I', '-n', '-P', '-L', '-s', '-d', '-a', '-E', '--max-args', '--max-procs', '--arg-file', '--delimiter'] },
  ],
  ['gxargs', { takes: 'words', values: ['-I', '-n', '-P', '-L', '-s', '-d', '-a', '-E'] }],
  ['parallel', { takes: 'script', values: ['-j', '--jobs', '-a', '--arg-file', '-I'] }],
  ['sem', { takes: 'script', values: ['-j', '--id'] }],
  ['ssh', { takes: 'script', operands: 1, values: ['-p', '-i', '-l', '-o', '-F', '-J', '-L', '-R', '-D', '-b', '-c', '-E', '-W', '-w'] }],
  ['strace', { takes: 'words', values: ['-o', '-e', '-p', '-s', '-u', '-P'] }],
  ['ltrace', { takes: 'words', values: ['-o', '-e', '-p', '-s', '-u'] }],
  ['gdb', { takes: 'words', values: ['-ex', '-x'] }],
  ['valgrind', plain],
  ['perf', { takes: 'words', operands: 1, values: ['-o', '-e', '-F'] }],
  ['chroot', { takes: 'words', operands: 1 }],
  ['unshare', plain],
  ['nsenter', { takes: 'words', values: ['-t', '--target'] }],
  ['bwrap', plain],
  ['firejail', plain],
  ['fakeroot', plain],
  ['proot', { takes: 'words', values: ['-r', '-b', '-w'] }],
  ['busybox', plain],
  ['toybox', plain],
  ['systemd-run', { takes: 'words', values: ['-p', '--property', '-u', '--unit', '-E', '--setenv'] }],
  ['start-stop-daemon', plain],
  ['setarch', { takes: 'words', operands: 1 }],
  ['caffeinate', { takes: 'words', values: ['-t', '-w'] }],
  ['flock', { takes: 'words', operands: 1, values: ['-w', '--timeout', '-E'] }],
  ['script', { takes: 'script', values: ['-c', '--command'] }],
  ['expect', { takes: 'script', values: ['-c'] }],
  ['entr', plain],
  ['nodemon', plain],
  ['direnv', { takes: 'words', operands: 1, subcommands: ['exec'] }],
  ['dotenv', plain],
  ['dbus-run-session', plain],
  ['tmux', { takes: 'script', operands: 1 }],
  ['screen', plain],
  [
    'docker',
    {
      takes: 'words',
      operands: 1,
      subcommands: ['run', 'exec'],
      values: ['-e', '-v', '-w', '-u', '-p', '--name', '--env', '--volume', '--workdir', '--user', '--network', '--entrypoint'],
    },
  ],
  [
    'podman',
    {
      takes: 'words',
      operands: 1,
      subcommands: ['run', 'exec'],
      values: ['-e', '-v', '-w', '-u', '-p', '--name', '--env', '--volume', '--workdir', '--user', '--network', '--entrypoint'],
    },
  ],
  ['kubectl', { takes: 'words', operands: 1, subcommands: ['exec'], values: ['-n', '--namespace', '-c', '--container', '--context'] }],
]);

/** How an interpreter receives code in an argument, and where its script is otherwise. */
export type Interpreter = {
  /** Options whose value (or the rest of whose word) is code. Single letters also count in a cluster such as `-lc`. */
  readonly code: readonly string[];
  /** The first operand is code: awk. */
  readonly isCodeOperand?: true;
  /** The code is a shell line, so deny rules can read it. */
  readonly isShell?: true;
  /** Without an operand it reads its program from standard input. */
  readonly readsStdin?: true;
};

const shell: Interpreter = { code: ['-c'], isShell: true, readsStdin: true };
const awk: Interpreter = { code: ['-e', '--source'], isCodeOperand: true };
const runner: Interpreter = { code: ['-c', '--call'] };

export const INTERPRETERS: ReadonlyMap<string, Interpreter> = new Map<string, Interpreter>([
  ...['sh', 'bash', 'dash', 'zsh', 'ksh', 'mksh', 'ash', 'fish', 'rbash', 'csh', 'tcsh', 'nu', 'xonsh'].map(
    (name) => [name, shell] as const,
  ),
  ...['pwsh', 'powershell', 'cmd'].map(
    (name) => [name, { code: ['-c', '-command', '/c', '-e', '-encodedcommand'], readsStdin: true }] as const,
  ),
  ...['python', 'pypy', 'jython'].map((name) => [name, { code: ['-c'], readsStdin: true }] as const),
  ['node', { code: ['-e', '--eval', '-p', '--print', '-pe'], readsStdin: true }],
  ['nodejs', { code: ['-e', '--eval', '-p', '--print'], readsStdin: true }],
  ['deno', { code: ['eval', 'repl'] }],
  ['bun', { code: ['-e', '--eval', '-p', '--print', 'repl'] }],
  ['tsx', { code: ['-e', '--eval', '-p', '--print'], readsStdin: true }],
  ['ts-node', { code: ['-e', '--eval', '-p', '--print'], readsStdin: true }],
  ['perl', { code: ['-e', '-E'], readsStdin: true }],
  ['ruby', { code: ['-e'], readsStdin: true }],
  ['irb', { code: ['-e'], readsStdin: true }],
  ['php', { code: ['-r', '-B', '-R', '-E', '--run'], readsStdin: true }],
  ['lua', { code: ['-e'], readsStdin: true }],
  ['luajit', { code: ['-e'], readsStdin: true }],
  ['tclsh', { code: [], readsStdin: true }],
  ['wish', { code: [], readsStdin: true }],
  ['Rscript', { code: ['-e'] }],
  ['R', { code: ['-e'], readsStdin: true }],
  ['julia', { code: ['-e', '-E', '--eval', '--print'], readsStdin: true }],
  ['osascript', { code: ['-e'], readsStdin: true }],
  ['elixir', { code: ['-e', '--eval', '--rpc-eval'] }],
  ['iex', { code: ['-e', '--eval'], readsStdin: true }],
  ['erl', { code: ['-eval', '-run', '-s'], readsStdin: true }],
  ['groovy', { code: ['-e'] }],
  ['scala', { code: ['-e'] }],
  ['jshell', { code: [], readsStdin: true }],
  ['ghc', { code: ['-e'] }],
  ['ghci', { code: ['-e'], readsStdin: true }],
  ['guile', { code: ['-c'], readsStdin: true }],
  ['racket', { code: ['-e', '--eval'] }],
  ['sbcl', { code: ['--eval'], readsStdin: true }],
  ['emacs', { code: ['--eval', '--execute', '-f', '--funcall'] }],
  ['vim', { code: ['-c', '--cmd', '+'] }],
  ['vi', { code: ['-c', '+'] }],
  ['nvim', { code: ['-c', '--cmd', '+'] }],
  ['ed', { code: [], readsStdin: true }],
  ['sqlite3', { code: ['-cmd'], readsStdin: true }],
  ['gawk', awk],
  ['mawk', awk],
  ['nawk', awk],
  ['awk', awk],
  ['source', { code: [] }],
  ['.', { code: [] }],
  ['npx', runner],
  ['bunx', runner],
  ['pnpx', runner],
  ['uvx', { code: [] }],
  ['pipx', { code: [] }],
]);

/** Builtins that can change what later commands of the line mean. */
export const STATE_BUILTINS: ReadonlySet<string> = new Set([
  ...[
    'alias',
    'unalias',
    'hash',
    'enable',
    'set',
    'shopt',
    'export',
    'declare',
    'typeset',
    'local',
    'readonly',
    'unset',
    'read',
    'mapfile',
  ],
  ...[
    'readarray',
    'getopts',
    'pushd',
    'popd',
    'bind',
    'complete',
    'let',
    'function',
    'setopt',
    'unsetopt',
    'autoload',
    'zmodload',
    'functions',
  ],
]);

/** `python3.12` counts as python. */
export function interpreterOf(program: string): Interpreter | undefined {
  return INTERPRETERS.get(program) ?? INTERPRETERS.get(program.replace(/[\d.]+$/, ''));
}

/** Programs that only read the files named to them, unless a dangerous option is given. Others may also write: access unknown. */
export const READERS: ReadonlySet<string> = new Set([
  ...[
    'cat',
    'head',
    'tail',
    'less',
    'more',
    'ls',
    'wc',
    'grep',
    'egrep',
    'fgrep',
    'rg',
    'ag',
    'stat',
    'file',
    'diff',
    'cmp',
    'comm',
    'tree',
    'du',
  ],
  ...[
    'cut',
    'nl',
    'od',
    'strings',
    'md5sum',
    'sha1sum',
    'sha256sum',
    'sha512sum',
    'cksum',
    'realpath',
    'readlink',
    'basename',
    'dirname',
    'test',
  ],
  ...[
    '[',
    'jq',
    'yq',
    'pwd',
    'which',
    'type',
    'column',
    'fold',
    'paste',
    'join',
    'tac',
    'rev',
    'fd',
    'fdfind',
    'bat',
    'batcat',
    'cd',
    'hexdump',
  ],
]);

export const GIT_READERS: ReadonlySet<string> = new Set([
  ...[
    'status',
    'diff',
    'log',
    'show',
    'blame',
    'grep',
    'ls-files',
    'ls-tree',
    'rev-parse',
    'rev-list',
    'describe',
    'shortlog',
    'cat-file',
    'add',
  ],
]);

/**
 * Programs whose words are text to search for or print, not files: all words, or the first operand unless one of the options gave the text.
 */
export const NOT_FILES: ReadonlyMap<string, 'all' | readonly string[]> = new Map<string, 'all' | readonly string[]>([
  ...['echo', 'printf', 'true', 'false', 'sleep', 'kill', 'seq', 'date', 'type', 'which', 'expr'].map((name) => [name, 'all'] as const),
  ...['grep', 'egrep', 'fgrep', 'rg', 'ag', 'ack'].map((name) => [name, ['-e', '-f', '--regexp', '--file', '--files']] as const),
  ['sed', ['-e', '-f', '--expression', '--file']],
  ['jq', ['-f', '--from-file']],
  ...['awk', 'gawk', 'mawk'].map((name) => [name, ['-f', '--file', '-e', '--source']] as const),
]);

/** Options before the subcommand that take the next word: `git -C x push` is still a push to a rule that denies it. */
export const GLOBAL_VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ['git', ['-C', '-c', '--git-dir', '--work-tree', '--namespace', '--exec-path', '--config-env']],
  ['npm', ['--prefix', '-C', '-w', '--workspace', '--userconfig']],
  ['pnpm', ['-C', '--dir', '--filter', '-F']],
  ['yarn', ['--cwd']],
  ['docker', ['-H', '--host', '--context', '-c', '--config', '-l']],
  ['kubectl', ['-n', '--namespace', '--context', '--kubeconfig', '-s', '--server']],
  ['terraform', []],
  ['aws', ['--profile', '--region', '--endpoint-url']],
  ['gcloud', ['--project', '--account']],
]);
