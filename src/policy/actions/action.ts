// The normal form of a request: the action an agent wants to take, how much of it is known, and how well.
import type { Analysis } from '../commands/analyse.ts';
import type { FileEffect, Meaning } from '../commands/effect.ts';
import { actionPath } from '../commands/operands.ts';
import { resolvePath } from '../paths/path.ts';

export const ACTIONS = [
  'read',
  'edit',
  'delete',
  'move',
  'search',
  'execute',
  'fetch',
  'think',
  'switch_mode',
  'other',
  'mcp',
  'elicit',
  'mode',
  'delegate',
] as const;
export type ActionKind = (typeof ACTIONS)[number];

/**
 * How a fact is known. `raw`: from the tool's own input, a diff, an argv, or because the switchboard carries it out. `locations`: from
 * `toolCall.locations`. `title`: from text meant for people, which may only make a verdict stricter. `none`: unknown.
 */
export const EVIDENCE = ['raw', 'locations', 'title', 'none'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What happens to a file. `unknown` counts as both, whichever is stricter. */
export type Access = 'read' | 'write' | 'unknown';

export type ActionPath = {
  /** Absolute, lexically normal, NFC, symlinks resolved by the caller's `canonical`. */
  readonly path: string;
  /** The path before symlinks were resolved. Deny and ask rules match both; an allow rule matches `path`. */
  readonly written: string;
  /** Both in lower case: deny and ask rules ignore case. */
  readonly folded: readonly [string] | readonly [string, string];
  readonly access: Access;
  readonly evidence: Evidence;
  /** Links form a cycle, or a directory is not readable. Deny and ask rules match the path as written; nothing allows it. */
  readonly isUnfollowed?: true;
};

/** A file that a command uses, with the index of the word it came from; -1 for a redirection and for what the program does unasked. */
export type Operand = ActionPath & {
  readonly word: number;
  /** What the command does to it; undefined if the command is not understood and the word is only taken for a file. */
  readonly effect?: FileEffect | undefined;
};

export type Command = {
  /** The words as the program receives them, without quotes. If they are not literal, the closest reading. */
  readonly argv: readonly string[];
  readonly isLiteral: boolean;
  /** The program's base name in lower case. */
  readonly program: string;
  /**
   * `line`: runs as written and must be allowed on its own. `within`: found in a substitution, wrapper, argument or title; only deny and
   * ask rules see it.
   */
  readonly where: 'line' | 'within';
  readonly evidence: Evidence;
  /** The directories it may run in; several after a `cd` that may have failed. */
  readonly cwds: readonly string[];
  readonly operands: readonly Operand[];
  /** Files that the shell opens for it. */
  readonly redirects: readonly Operand[];
  readonly hosts: readonly string[];
  /** What its words mean, by the program table. */
  readonly meaning: Meaning;
};

export type McpCall = {
  readonly server: string;
  readonly tool: string;
  readonly args: unknown;
  /** A hash of the tool's description and schema, if known: a remembered answer does not cover a changed tool. */
  readonly schema?: string | undefined;
};

export type Action = {
  readonly agent: string;
  readonly session: string | undefined;
  /** The session's working directory: `$cwd` in rules. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether a user can answer. If not, ask becomes deny. */
  readonly interactive: boolean;
  readonly kind: ActionKind;
  /** Other kinds the action could have, such as the one the agent claims. Only deny and ask rules see them. */
  readonly claims: readonly ActionKind[];
  readonly tool: string | undefined;
  readonly mcp: McpCall | undefined;
  readonly commands: readonly Command[];
  /** Why parts were not understood. While there is a reason, nothing allows the action. */
  readonly opaque: readonly string[];
  /** Too long or too deep to read completely. It is denied, because the unread part could hold something that a rule denies. */
  readonly isUnreadable: boolean;
  readonly paths: readonly ActionPath[];
  readonly hosts: readonly string[];
  /** The shell lines, argvs and addresses exactly as given: a remembered answer covers only these. */
  readonly texts: readonly string[];
  readonly evidence: Evidence;
  readonly findBelow?: FindBelow | undefined;
};

/** The file that was found, or that there are too many to look at; undefined if there is none. */
export type FindBelow = (
  root: string,
  seesHidden: boolean,
  isWanted: (file: string, kind: 'file' | 'link' | 'skipped') => boolean,
) => { readonly file: string } | 'too many' | undefined;

/** Where an action takes place and who takes it: what the caller knows and the request does not contain. */
export type Place = {
  readonly agent: string;
  /** Which agent's extractor to use. Without it, the agent's name decides; an unknown agent gets the generic one. */
  readonly family?: string | undefined;
  readonly session?: string | undefined;
  /** Absolute and canonical. */
  readonly cwd: string;
  readonly home?: string | undefined;
  readonly interactive?: boolean;
  /**
   * Resolves symlinks of the nearest existing part. The engine does no I/O, so the caller provides it; without it, paths are only
   * normalised as text. If it throws, the action is opaque.
   */
  readonly canonical?: ((path: string) => string) | undefined;
  /**
   * Looks for a file below a directory, without following links. Without it, a recursive search is evaluated by its directory alone.
   */
  readonly findBelow?: FindBelow | undefined;
  /** `unknown` (PowerShell, cmd, fish) makes every shell line opaque: only Bash's grammar is understood. */
  readonly shell?: 'posix' | 'unknown';
};

// Builds an `Action`. An error while reading the request becomes an action that nothing allows.
export type Facts = Partial<Omit<Action, 'agent' | 'session' | 'cwd' | 'home' | 'interactive' | 'findBelow'>> &
  Pick<Action, 'kind' | 'evidence'>;

export function buildAction(place: Place, facts: () => Facts): Action {
  const empty: Action = {
    agent: place.agent,
    session: place.session,
    cwd: place.cwd === '' ? '' : resolvePath('/', place.cwd),
    home: place.home === undefined ? undefined : resolvePath('/', place.home),
    interactive: place.interactive ?? true,
    kind: 'other',
    claims: [],
    tool: undefined,
    mcp: undefined,
    commands: [],
    opaque: [],
    isUnreadable: false,
    paths: [],
    hosts: [],
    texts: [],
    evidence: 'none',
    ...(place.findBelow && { findBelow: place.findBelow }),
  };
  try {
    const given = facts();
    const hosts = [...new Set([...(given.hosts ?? []), ...(given.commands ?? []).flatMap((command) => command.hosts)])];
    return { ...empty, ...given, hosts, opaque: [...new Set([...(given.opaque ?? []), ...unfollowed(given)])] };
  } catch (error) {
    // What could not be read could be anything, including an execution.
    return {
      ...empty,
      kind: 'execute',
      claims: ['read', 'edit', 'other'],
      opaque: ['an error while it was read'],
      isUnreadable: error instanceof RangeError,
    };
  }
}

const UNFOLLOWED = 'a path that cannot be followed';

function unfollowed({ paths = [], commands = [] }: Facts): readonly string[] {
  const isIn = (found: readonly ActionPath[]) => found.some(({ isUnfollowed }) => isUnfollowed);
  return isIn(paths) || commands.some(({ operands }) => isIn(operands)) ? [UNFOLLOWED] : [];
}

/** The directory something runs in. If it cannot be followed, the action is opaque: what runs there could be anything. */
export function directoryIn(place: Place, path: string): { readonly cwd: string; readonly opaque: readonly string[] } {
  const { path: cwd, isUnfollowed } = actionPath(path, place.cwd, place, 'read', 'raw');
  return { cwd, opaque: isUnfollowed ? [UNFOLLOWED] : [] };
}

export function together(analyses: readonly Analysis[]): Analysis {
  return {
    commands: analyses.flatMap(({ commands }) => commands),
    opaque: [...new Set(analyses.flatMap(({ opaque }) => opaque))],
    isUnreadable: analyses.some(({ isUnreadable }) => isUnreadable),
  };
}
