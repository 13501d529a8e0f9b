// What a contained process may see, write and connect to: the result of the compiler, and the input of every runner.
import type { SandboxLevel, SandboxNetwork } from '../../policy/policy.ts';

/** One place where the process sees something other than the system, read-only. */
export type Place = {
  /**
   * `write`: as it is. `read`: visible where its surroundings are not. `protect`: read-only. `hide`: cannot be read. `pin`: writable, but
   * cannot be moved, so that a protected file below it stays where it is.
   */
  readonly kind: 'write' | 'read' | 'protect' | 'hide' | 'pin';
  readonly path: string;
  readonly isDirectory: boolean;
  /** The rule or setting, for people. */
  readonly why: string;
};

export type Profile = {
  readonly level: Exclude<SandboxLevel, 'off'>;
  readonly network: SandboxNetwork;
  /** Hosts for `listed`. */
  readonly hosts: HostList;
  /** The session's directories; empty for a process that serves no session yet. */
  readonly roots: readonly string[];
  /** Where the process starts. */
  readonly cwd: string;
  /** Writable, empty and private. */
  readonly temporary: readonly string[];
  /** Outermost first. */
  readonly places: readonly Place[];
  readonly sockets: readonly string[];
  /** Sentences about what this profile does not prevent. */
  readonly gaps: readonly string[];
};

export type HostList = {
  /** `example.com`, `*.example.com`. */
  readonly allow: readonly string[];
  /** Ports of programs on this machine that the process reaches at the same port. */
  readonly ports: readonly number[];
};

/** Why there is no profile. */
export type Uncompilable = { readonly problem: string; readonly next: string };

/** The disk as the compiler sees it; nothing is followed. */
export type Disk = {
  kindOf(path: string): 'file' | 'directory' | 'link' | 'other' | undefined;
  /** With all links resolved; undefined if it does not exist. */
  real(path: string): string | undefined;
  /** Empty for a directory that cannot be read. */
  list(directory: string): readonly { readonly name: string; readonly kind: 'file' | 'directory' | 'link' | 'other' }[];
  /** The first kilobytes of a small text file. */
  read(path: string): string | undefined;
};

export const isWithin = (directory: string, path: string): boolean =>
  path === directory || path.startsWith(directory.endsWith('/') ? directory : `${directory}/`);
