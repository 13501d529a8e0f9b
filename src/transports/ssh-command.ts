// How OpenSSH starts an agent on another machine: its options, the one command line that the remote shell gets, and what its failures mean.
import type { Unstartable } from './start-error.ts';

export type SshHost = {
  /** As `ssh` takes it: `user@host`, `ssh://user@host:port`, or a name from its configuration. */
  readonly host: string;
  readonly connectMs: number;
  /** How often a silent connection is tested. 0: never. */
  readonly keepaliveMs: number;
  /** Where the user configured it, for messages: `agent_servers.claude`. */
  readonly configKey: string;
};

export type RemoteProgram = {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables to add to those of the remote user. */
  readonly env: Readonly<Record<string, string>>;
  /** A directory of the remote machine. */
  readonly cwd: string | undefined;
  /** Between end of input, TERM and KILL. */
  readonly graceMs: number;
};

const seconds = (ms: number): number => Math.ceil(ms / 1000);

/** Nothing may ask a question, forward a port, or replace the command. The rest is the user's configuration of ssh. */
export function sshArguments({ host, connectMs, keepaliveMs }: SshHost, mark: string, program: RemoteProgram): readonly string[] {
  const options = {
    BatchMode: 'yes',
    ConnectTimeout: seconds(connectMs),
    ServerAliveInterval: seconds(keepaliveMs),
    ServerAliveCountMax: 2,
    ClearAllForwardings: 'yes',
    ControlMaster: 'no', // a master process would stay behind
    RemoteCommand: 'none',
  };
  return ['-T', ...Object.entries(options).flatMap(([key, value]) => ['-o', `${key}=${value}`]), '--', host, commandLine(mark, program)];
}

/**
 * Prints `MARK ready`, reads one line of settings, prints `MARK started` (or why not), and runs the agent. Shells print greetings, so nothing
 * before the marks counts; what is written before `ready` could reach a program of the shell's start-up files. PATH is extended by that of a
 * login shell, which ssh does not use. Without a terminal, sshd sends no signal when the connection ends: if the agent stays when its input
 * ends, its process group gets TERM and then KILL, and so does what it leaves behind.
 */
const SCRIPT = `
printf "\\n%s ready\\n" "$0"; IFS= read -r settings || exit 1;
nl=$(printf "\\n_"); nl=\${nl%_}; eval "$settings"; unset settings nl; grace=$1; dir=$2; shift 2;
if [ -n "$dir" ]; then cd -- "$dir" 2>/dev/null || { printf "%s directory\\n" "$0"; exit 1; }; fi;
command -v "$1" >/dev/null || PATH=$PATH:$("$SHELL" -lc 'printf "\\n%s" "$PATH"' </dev/null 2>/dev/null | tail -n 1); export PATH;
command -v "$1" >/dev/null || { printf "%s command\\n" "$0"; exit 1; };
printf "%s started\\n" "$0"; trap : TERM HUP; exec 3>&2 2>/dev/null;
{ cat; exec >&-; sleep "$grace"; trap "" TERM; kill -TERM -$$; sleep "$grace"; kill -KILL -$$; } 3>&- |
{ trap : TERM HUP; "$@" 2>&3 3>&-; code=$?; exec 3>&-; trap "" TERM; kill -TERM -$$; { sleep "$grace"; kill -KILL -$$; } </dev/null >/dev/null 2>&1 & exit $code; }`
  .trim()
  .replaceAll('\n', ' ');

/** One command line, because ssh joins its arguments with spaces and the remote shell splits them again. */
function commandLine(mark: string, { command, args, cwd, graceMs }: RemoteProgram): string {
  const words = [SCRIPT, mark, String(seconds(graceMs)), cwd ?? '', command, ...args];
  return `exec sh -c ${words.map(quoted).join(' ')}`;
}

/** Safe in sh, bash, zsh, fish and csh, which read a backslash or an exclamation mark in quotes differently. */
export const quoted = (word: string): string => `'${word.replace(/['\\!]/g, (character) => `'\\${character}'`)}'`;

/** The line of settings: environment values stay out of the command line, which every user of the remote machine can see. */
export function settingsLine(env: RemoteProgram['env']): string {
  const assignments = Object.entries(env).map(([name, value]) => `export ${name}=${quoted(value).replaceAll('\n', `'"$nl"'`)}`);
  return `${[':', ...assignments].join('; ')}\n`;
}

const ADVICE: readonly (readonly [RegExp, string, (host: string) => string])[] = [
  [
    /host key verification failed|host key .*changed/i,
    'its host key is not known',
    (host) => `Connect once in a terminal and check the key: ssh ${host}`,
  ],
  [
    /permission denied|too many authentication failures/i,
    'it rejected the login',
    (host) => `Make this work without a password: ssh -o BatchMode=yes ${host} true`,
  ],
  [/could not resolve hostname/i, 'the host was not found', () => ''],
  [/connection refused/i, 'the connection was refused', () => ''],
  [/timed out/i, 'the connection timed out', () => ''],
];

const LOST = /^(Connection (to|closed|reset)|client_loop|Timeout, server|Shared connection|packet_write|kex_exchange|ssh_dispatch)/;

/** Why an open connection ended. The agent writes to the same stderr. */
export const whyLost = (lastLines: readonly string[]): string => lastLines.findLast((line) => LOST.test(line)) ?? 'ssh lost the connection';

/** Why ssh ended before the agent's machine answered. `lastLines` is the end of its stderr. */
export function whyNoSsh({ host, configKey }: SshHost, lastLines: readonly string[]): Unstartable {
  const text = lastLines.join('\n');
  const [, why, advice] = ADVICE.find(([pattern]) => pattern.test(text)) ?? [];
  const next = advice?.(host) || `Check "ssh" in ${configKey}, and try: ssh ${host} true`;
  return { why: why ?? lastLines.at(-1) ?? 'ssh ended without a message', next };
}
