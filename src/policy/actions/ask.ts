// Puts an `Asked` together, and makes an error while doing so into a request that nothing allows.

import type { Analysis } from '../commands/analyse.ts';
import { askedPath } from '../commands/operands.ts';
import { resolvePath } from '../paths/path.ts';
import type { Asked, AskedPath, Place } from './action.ts';

export type Facts = Partial<Omit<Asked, 'agent' | 'session' | 'cwd' | 'home' | 'interactive'>> & Pick<Asked, 'action' | 'evidence'>;

export function ask(place: Place, facts: () => Facts): Asked {
  const empty: Asked = {
    agent: place.agent,
    session: place.session,
    cwd: place.cwd === '' ? '' : resolvePath('/', place.cwd),
    home: place.home === undefined ? undefined : resolvePath('/', place.home),
    interactive: place.interactive ?? true,
    action: 'other',
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
      action: 'execute',
      claims: ['read', 'edit', 'other'],
      opaque: ['an error while it was read'],
      isUnreadable: error instanceof RangeError,
    };
  }
}

const UNFOLLOWED = 'a path that cannot be followed';

function unfollowed({ paths = [], commands = [] }: Facts): readonly string[] {
  const isIn = (found: readonly AskedPath[]) => found.some(({ isUnfollowed }) => isUnfollowed);
  return isIn(paths) || commands.some(({ operands }) => isIn(operands)) ? [UNFOLLOWED] : [];
}

/** Where something is to run. One that cannot be followed is a mistake of the request's: what runs there could be anything. */
export function directoryIn(place: Place, path: string): { readonly cwd: string; readonly opaque: readonly string[] } {
  const { path: cwd, isUnfollowed } = askedPath(path, place.cwd, place, 'read', 'raw');
  return { cwd, opaque: isUnfollowed ? [UNFOLLOWED] : [] };
}

export function together(analyses: readonly Analysis[]): Analysis {
  return {
    commands: analyses.flatMap(({ commands }) => commands),
    opaque: [...new Set(analyses.flatMap(({ opaque }) => opaque))],
    isUnreadable: analyses.some(({ isUnreadable }) => isUnreadable),
  };
}
