// The one form in which every surface puts its question: what somebody wants to do, as far as it is known, and how well it is known.
import type { Analysis } from '../commands/analyse.ts';
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
 * How a fact is known. `raw`: from the tool's own input, a diff, an argv, or because we carry it out ourselves. `locations`: from
 * `toolCall.locations`. `title`: from words meant for people, which may only make a verdict stricter. `none`: not at all.
 */
export const EVIDENCE = ['raw', 'locations', 'title', 'none'] as const;
export type Evidence = (typeof EVIDENCE)[number];

/** What happens to a file; `unknown` counts as both where that is stricter. */
export type Access = 'read' | 'write' | 'unknown';

export type ActionPath = {
  /** Absolute, lexically normal, NFC, symlinks resolved by the caller's `canonical`. */
  readonly path: string;
  /** The same before symlinks were resolved. Deny and ask look at both; an allow needs `path`. */
  readonly written: string;
  /** Both in lower case, since deny and ask compare without regard to it. */
  readonly folded: readonly [string] | readonly [string, string];
  readonly access: Access;
  readonly evidence: Evidence;
  /** It could not be followed (a circle of links, a directory that is closed to us): deny and ask see it as written, and nothing is allowed. */
  readonly isUnfollowed?: true;
};

/** A file operand of a command, and which word of it it came from. */
export type Operand = ActionPath & { readonly word: number };

export type Command = {
  /** The words as the program gets them, quoting removed. Where they are not literal: as near as can be told. */
  readonly argv: readonly string[];
  readonly isLiteral: boolean;
  /** The name of what runs, without its directory and in lower case. */
  readonly program: string;
  /** `line`: it runs as written and must be allowed on its own. `within`: found in a substitution, a wrapper, an argument or a title; deny and ask only. */
  readonly where: 'line' | 'within';
  readonly evidence: Evidence;
  /** The directories it may run in: several after a `cd` that could have failed. */
  readonly cwds: readonly string[];
  readonly operands: readonly Operand[];
  readonly hosts: readonly string[];
};

export type McpCall = {
  readonly server: string;
  readonly tool: string;
  readonly args: unknown;
  /** A hash of its description and schema, where we know them: an answer for the tool as it was does not hold for what it becomes. */
  readonly schema?: string | undefined;
};

export type Action = {
  readonly agent: string;
  readonly session: string | undefined;
  /** The session's own directory: `$cwd` in rules. */
  readonly cwd: string;
  readonly home: string | undefined;
  /** Whether somebody can answer a question; if not, ask becomes deny. */
  readonly interactive: boolean;
  readonly kind: ActionKind;
  /** Further actions the request could also be, such as the kind the agent claims. Deny and ask only. */
  readonly claims: readonly ActionKind[];
  readonly tool: string | undefined;
  readonly mcp: McpCall | undefined;
  readonly commands: readonly Command[];
  /** Why not all of it could be understood. While there is a reason, nothing is allowed. */
  readonly opaque: readonly string[];
  /** Too long or too deep to be read to the end: denied, since a rule that denies might stand behind it. */
  readonly isUnreadable: boolean;
  readonly paths: readonly ActionPath[];
  readonly hosts: readonly string[];
  /** The shell lines, argvs and addresses as they were given, for answers that hold for this very request and no other. */
  readonly texts: readonly string[];
  readonly evidence: Evidence;
};

/** Where and by whom something is asked: what the caller knows and the request does not say. */
export type Place = {
  readonly agent: string;
  /** Whose extractor to use; without it the generic one serves, or that of the agent's name. */
  readonly family?: string | undefined;
  readonly session?: string | undefined;
  /** Absolute and canonical. */
  readonly cwd: string;
  readonly home?: string | undefined;
  readonly interactive?: boolean;
  /**
   * Resolves symlinks (of the nearest part that exists). The engine does no I/O, so this is the caller's; without it paths are only
   * normalised lexically. If it throws, the request is opaque.
   */
  readonly canonical?: ((path: string) => string) | undefined;
  /** `unknown` (PowerShell, cmd, fish) makes every shell line opaque: only Bash's grammar is understood. */
  readonly shell?: 'posix' | 'unknown';
};

// Puts an `Asked` together, and makes an error while doing so into a request that nothing allows.
export type Facts = Partial<Omit<Action, 'agent' | 'session' | 'cwd' | 'home' | 'interactive'>> & Pick<Action, 'kind' | 'evidence'>;

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
  };
  try {
    const given = facts();
    const hosts = [...new Set([...(given.hosts ?? []), ...(given.commands ?? []).flatMap((command) => command.hosts)])];
    return { ...empty, ...given, hosts, opaque: [...new Set([...(given.opaque ?? []), ...unfollowed(given)])] };
  } catch (error) {
    // Whatever could not be looked through could be anything, an execution included.
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

/** Where something is to run. One that cannot be followed is a mistake of the request's: what runs there could be anything. */
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
