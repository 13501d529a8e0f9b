// Puts a program into a sandbox: the command to start instead, and what has to happen around its start.
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, openSync, unlinkSync, writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import type { ProcessTree } from '../../processes/process-tree.ts';
import type { DecideHost } from '../network/forward-proxy.ts';
import { type NetworkLink, openLink, PROXY_PORT } from '../network/link.ts';
import { bubblewrapArgs } from '../profile/bubblewrap.ts';
import type { Profile } from '../profile/profile.ts';
import { seatbeltProfile } from '../profile/seatbelt.ts';
import { seccompFilter } from '../profile/seccomp.ts';
import type { Available } from './available.ts';
import { sandboxedTree } from './tree.ts';

export type Program = {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Inside. Default: the session's directory. */
  readonly cwd?: string | undefined;
};

export type ContainOptions = {
  readonly available: Available;
  /** The built `network/bridge.ts`. */
  readonly bridge: string;
  /** For `listed`. */
  readonly decide: DecideHost;
  /** For the level `review`: starts a command in a namespace where the layer lies over the project. */
  readonly enter?: ((program: Program) => Program) | undefined;
};

export type Contained = Program & {
  /** Descriptors from 3 on. */
  readonly stdio: readonly (number | 'pipe')[];
  tree(child: ChildProcess): ProcessTree;
  /** Call it once, after the start or its failure. */
  started(child: ChildProcess | undefined): void;
  /** Why it refuses a path. */
  readonly refusal?: ((path: string, isWrite: boolean) => string | undefined) | undefined;
  /** Paths that the running sandbox does not cover any more. */
  readonly uncovered?: ((isThorough: boolean) => readonly string[]) | undefined;
  /** Makes a loopback port reachable inside; calls back when it is. */
  reach(port: number, done: () => void): void;
};

const FIRST_DESCRIPTOR = 3;

export function contain(profile: Profile, program: Program, { available, bridge, decide, enter }: ContainOptions): Contained {
  if (available.kind === 'seatbelt') return inSeatbelt(profile, program, available.program);
  const filter = seccompFilter(process.arch, { allowsUnix: profile.sockets.length > 0 });
  const seccomp = filter && openUnnamed(filter);
  const stdio: (number | 'pipe')[] = seccomp === undefined ? [] : [seccomp];
  const hasBridge = profile.network !== 'open';
  const linkAt = FIRST_DESCRIPTOR + stdio.length;
  if (hasBridge) stdio.push('pipe');
  const isListed = profile.network === 'listed';
  const ports = profile.network === 'none' ? [] : profile.hosts.ports;
  const inside = [...(isListed ? [PROXY_PORT] : []), ...ports].join(',');
  const wrapped = hasBridge
    ? [process.execPath, bridge, String(linkAt), inside, program.command, ...program.args]
    : [program.command, ...program.args];
  let link: NetworkLink | undefined;
  const early: [number, () => void][] = [];
  const args = bubblewrapArgs(program.cwd === undefined ? profile : { ...profile, cwd: program.cwd }, {
    isRoot: process.getuid?.() === 0,
    user: enter && { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 },
    seccomp: seccomp === undefined ? undefined : FIRST_DESCRIPTOR,
    existing: existsSync,
  });
  const plain: Program = {
    command: available.program,
    // The bridge must also be there if switchboard is installed below a directory that the sandbox empties.
    args: [...args, ...(hasBridge ? ['--ro-bind', bridge, bridge] : []), '--', ...wrapped],
    env: environmentInside(program.env, profile),
  };
  return {
    ...(enter ? enter(plain) : plain),
    stdio,
    tree: sandboxedTree,
    started(child) {
      if (seccomp !== undefined) closeSync(seccomp);
      const socket = child?.stdio[linkAt] as Socket | null | undefined;
      if (hasBridge && socket) link = openLink(socket, ports, isListed ? decide : undefined);
      for (const [port, done] of early) link ? link.reach(port, done) : done();
    },
    reach(port, done) {
      if (!hasBridge) return done();
      if (link) link.reach(port, done);
      else early.push([port, done]);
    },
  };
}

/** Hands bytes to a child as an open file that no longer has a name. The caller closes the descriptor. */
function openUnnamed(bytes: Buffer): number {
  const file = path.join(os.tmpdir(), `switchboard-${randomUUID()}`);
  const writer = openSync(file, 'wx', 0o600);
  try {
    writeFileSync(writer, bytes);
    return openSync(file, 'r');
  } finally {
    unlinkSync(file);
    closeSync(writer);
  }
}

/** Written from its documentation, and not tested. Its network is open, or closed to everything but this machine. */
function inSeatbelt(profile: Profile, { command, args, env }: Program, sandboxExec: string): Contained {
  return {
    command: sandboxExec,
    args: ['-p', seatbeltProfile(profile), command, ...args],
    env,
    stdio: [],
    tree: sandboxedTree,
    started: () => {},
    reach: (_, done) => done(),
  };
}

function environmentInside(env: Readonly<Record<string, string>>, { network }: Profile): Record<string, string> {
  // Sockets of other programs, which are out of reach, and the outside's own proxy settings.
  const dropped = /^(?:SSH_AUTH_SOCK|GPG_AGENT_INFO|DBUS_SESSION_BUS_ADDRESS|WAYLAND_DISPLAY|DISPLAY|DOCKER_HOST|TMPDIR|TMP|TEMP)$/;
  const proxied = /^(?:https?|all|no)_proxy$/i;
  const kept = Object.fromEntries(
    Object.entries(env).filter(([name]) => !dropped.test(name) && !(network !== 'open' && proxied.test(name))),
  );
  if (network !== 'listed') return { ...kept, TMPDIR: '/tmp' };
  const proxy = `http://127.0.0.1:${PROXY_PORT}`;
  const local = 'localhost,127.0.0.1,::1';
  return {
    ...kept,
    TMPDIR: '/tmp',
    ...{ HTTP_PROXY: proxy, HTTPS_PROXY: proxy, http_proxy: proxy, https_proxy: proxy },
    ...{ NO_PROXY: local, no_proxy: local, NODE_USE_ENV_PROXY: '1' },
  };
}
