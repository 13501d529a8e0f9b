// What a file that came with a repository may say before the user trusts it: which of the user's own agents to take.
// Whatever else it says is passed over with a notice and never stops the switchboard.
import path from 'node:path';
import { escapeControls } from '../control-characters.ts';
import { fields } from '../json-object.ts';
import { EMPTY_LAYER, type Layer, type Placed } from './layer.ts';
import { type Document, renderProblem } from './problems.ts';

const MOST_NOTICES = 20;
const MOST_ROUTES = 50;
const MOST_WILDCARDS = 3;

export type Picked = { readonly layer: Layer; readonly notices: readonly string[] };

export function pickUntrusted(document: Document, agents: readonly string[]): Picked {
  const { file } = document;
  const [first] = document.problems;
  if (first) return { layer: EMPTY_LAYER, notices: [`${renderProblem(first)}; the file is ignored`] };

  const notices: string[] = [];
  const ignore = (what: string, why: string) => notices.push(escapeControls(`${file}: ${what} is ignored: ${why}`));
  const { $schema, default_agent, routes, policy, ...rest } = fields(document.value);

  for (const key of Object.keys(rest)) {
    ignore(JSON.stringify(key), `the file came with the project; to allow it: switchboard config trust ${shellWord(file)}`);
  }
  const known = (name: unknown) => typeof name === 'string' && agents.includes(name);
  const defaultAgent = known(default_agent) ? { document, path: ['default_agent'], value: default_agent } : undefined;
  if (default_agent !== undefined && !defaultAgent) ignore('"default_agent"', 'it does not name an agent that you have enabled');

  const picked: Placed[] = [];
  const listed = Array.isArray(routes) ? routes : [];
  if (routes !== undefined && !Array.isArray(routes)) ignore('"routes"', 'it is not a list');
  if (listed.length > MOST_ROUTES) ignore('"routes"', `it has more than ${MOST_ROUTES} entries`);
  for (const [index, route] of listed.length > MOST_ROUTES ? [] : listed.entries()) {
    const { cwd, agent } = fields(route);
    const place = ['routes', index];
    if (typeof cwd !== 'string' || !isPlainGlob(cwd))
      ignore(`"routes[${index}]"`, `"cwd" must be a path with at most ${MOST_WILDCARDS} "*" and no groups`);
    else if (!known(agent)) ignore(`"routes[${index}]"`, 'it does not name an agent that you have enabled');
    else picked.push({ document, path: place, value: { cwd, agent } });
  }
  // It may tighten: what it allows does not count until its own content is trusted.
  const isPolicy = typeof policy === 'string' ? isBeside(policy) : fields(policy) === policy;
  const policies = policy !== undefined && isPolicy ? [{ document, path: ['policy'], value: policy }] : [];
  if (policy !== undefined && !isPolicy) ignore('"policy"', 'it must be a policy, or name a file beside or below this one');
  return { layer: { ...EMPTY_LAYER, defaultAgent, routes: picked, policies }, notices: shorten(file, notices) };
}

// No way out of the project: what is read may be quoted in a message.
function isBeside(file: string): boolean {
  return !path.isAbsolute(file) && !file.split(/[\\/]/).includes('..');
}

// Globs become regular expressions, and a glob of groups and many wildcards can be made to take minutes to match.
function isPlainGlob(glob: string): boolean {
  return glob !== '' && glob.length <= 1000 && !/[()[\]{}|]/.test(glob) && (glob.match(/\*+/g) ?? []).length <= MOST_WILDCARDS;
}

// The notice invites copying, and a repository chooses the names of its directories.
function shellWord(file: string): string {
  return /^[\w./\\:-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

function shorten(file: string, notices: readonly string[]): string[] {
  if (notices.length <= MOST_NOTICES) return [...notices];
  return [...notices.slice(0, MOST_NOTICES), escapeControls(`${file}: ${notices.length - MOST_NOTICES} more parts are ignored`)];
}
