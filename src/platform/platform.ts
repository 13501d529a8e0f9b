// What differs between operating systems, one folder for each. Elsewhere, code asks for a property of the system and does not name one.
import type { PlatformPath } from 'node:path';
import { linux } from './linux/facts.ts';
import { macos } from './macos/facts.ts';
import { windows } from './windows/facts.ts';

type Env = NodeJS.ProcessEnv;

export type Platform = {
  /** Where programs keep their configuration. */
  configHome(env: Env, home: string): string;
  /** The same for programs that come from Unix, on every system. */
  unixConfigHome(env: Env, home: string): string;
  /** Where switchboard keeps its own files. */
  stateHome(env: Env, home: string): string;
  /** The policy of an organisation: only an administrator can write there. */
  managedPolicy(env: Env): string;
  /** The `PATH` of programs that no shell started; undefined if it is the user's. */
  readonly desktopPath: string | undefined;
  readonly path: PlatformPath;
  /** Why a path names something other than a file. */
  fileProblem(file: string): string | undefined;
  /** Not files but the state of the system and of this process. */
  readonly pseudoFiles: readonly string[];
  /** What the name of a program's file may end in, after the command. */
  programEndings(env: Env, command: string): readonly string[];
  /** Where Python environments keep their programs, and what these end in. */
  readonly python: { readonly bin: string; readonly ending: string };
  /** Opens an address in the user's browser. */
  readonly opener: string;
  /** How a command line is read. What Windows runs is never read as Bash. */
  readonly shell: 'posix' | 'unknown';
  /** The signals that ask a program to end. */
  readonly endingSignals: readonly NodeJS.Signals[];
  /** SIGHUP and SIGUSR2 can be sent to a program. */
  readonly hasUserSignals: boolean;
  /** A program can lead a group, which is signalled as one. */
  readonly hasProcessGroups: boolean;
  /** Where facts about other processes come from. */
  readonly processes: 'proc' | 'ps' | 'none';
  /** Files have modes, which say who else may read and write them. */
  readonly hasModes: boolean;
  /** An open file can be replaced by another. */
  readonly replacesOpenFiles: boolean;
  /** Symbolic links need a privilege. */
  readonly restrictsLinks: boolean;
  /** Private sockets are named pipes and not files. */
  readonly hasNamedPipes: boolean;
  readonly sandbox: 'bubblewrap' | 'seatbelt' | 'none';
};

/** Another Unix is like Linux, without /proc and bubblewrap. */
const unix: Platform = { ...linux, processes: 'ps', sandbox: 'none' };
const KNOWN: Readonly<Partial<Record<NodeJS.Platform, Platform>>> = { linux, darwin: macos, win32: windows };

export const platformOf = (name: NodeJS.Platform): Platform => KNOWN[name] ?? unix;

/** The system that this runs on. */
export const here: Platform = platformOf(process.platform);
