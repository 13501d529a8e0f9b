// An untrusted project file may only choose among the user's own agents. Everything else in it is ignored with a notice, and never stops switchboard.
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
  if (first) return { layer: EMPTY_LAYER, notices: [`${renderProblem(first)}; ignoring the file`] };

  const notices: string[] = [];
  const ignore = (what: string, why: string) => notices.push(escapeControls(`${file}: ignoring ${what}: ${why}`));
  const { $schema, default_agent, routes, policy, ...rest } = fields(document.value);

  for (const key of Object.keys(rest)) {
    ignore(JSON.stringify(key), `the project file is not trusted; to trust it, run: switchboard config trust ${shellWord(file)}`);
  }
  const known = (name: unknown) => typeof name === 'string' && agents.includes(name);
  const defaultAgent = known(default_agent) ? { document, path: ['default_agent'], value: default_agent } : undefined;
  if (default_agent !== undefined && !defaultAgent) ignore('"default_agent"', 'not one of your enabled agents');

  const picked: Placed[] = [];
  const listed = Array.isArray(routes) ? routes : [];
  if (routes !== undefined && !Array.isArray(routes)) ignore('"routes"', 'not a list');
  if (listed.length > MOST_ROUTES) ignore('"routes"', `more than ${MOST_ROUTES} entries`);
  for (const [index, route] of listed.length > MOST_ROUTES ? [] : listed.entries()) {
    const { cwd, agent } = fields(route);
    const place = ['routes', index];
    if (typeof cwd !== 'string' || !isPlainGlob(cwd))
      ignore(`"routes[${index}]"`, `"cwd" must be a path with at most ${MOST_WILDCARDS} "*" and no groups`);
    else if (!known(agent)) ignore(`"routes[${index}]"`, 'not one of your enabled agents');
    else picked.push({ document, path: place, value: { cwd, agent } });
  }
  // A project policy may tighten. Its allow rules apply only after the user trusts the policy file.
  const isPolicy = typeof policy === 'string' ? isInProject(policy) : fields(policy) === policy;
  const policies = policy !== undefined && isPolicy ? [{ document, path: ['policy'], value: policy }] : [];
  if (policy !== undefined && !isPolicy) ignore('"policy"', 'it must be an inline policy, or a file in this directory or below');
  return { layer: { ...EMPTY_LAYER, defaultAgent, routes: picked, policies }, notices: shorten(file, notices) };
}

// Must stay inside the project: a message may quote the file.
function isInProject(file: string): boolean {
  return !path.isAbsolute(file) && !file.split(/[\\/]/).includes('..');
}

// Globs become regular expressions; groups and many wildcards could make them take minutes to match.
function isPlainGlob(glob: string): boolean {
  return glob !== '' && glob.length <= 1000 && !/[()[\]{}|]/.test(glob) && (glob.match(/\*+/g) ?? []).length <= MOST_WILDCARDS;
}

// Users copy this command, and a repository controls its directory names, so quote the path.
function shellWord(file: string): string {
  return /^[\w./\\:-]+$/.test(file) ? file : `'${file.replaceAll("'", "'\\''")}'`;
}

function shorten(file: string, notices: readonly string[]): string[] {
  if (notices.length <= MOST_NOTICES) return [...notices];
  return [...notices.slice(0, MOST_NOTICES), escapeControls(`${file}: ignoring ${notices.length - MOST_NOTICES} more parts`)];
}
