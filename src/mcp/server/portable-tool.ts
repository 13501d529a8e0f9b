// A tool as every agent and every model API takes it: its name, its description and its schema.
import { createHash } from 'node:crypto';
import { choiceText, portableSchema, schemaProblem } from './portable-schema.ts';
import type { JsonSchema } from './tool.ts';

/** Model APIs allow 64 characters, of which agents use some for a prefix. */
const MAX_NAME = 64;
/** The prefix of claude and codex, the longest of the known agents: `mcp__server__`. */
const prefixLength = (server: string): number => 'mcp__'.length + server.length + '__'.length;
/** Our server's name may get a number when the client uses it. */
const OUR_SERVER = 'switchboard-2';
const SHORTEST = 16;
const HASH_LENGTH = 8;
const MAX_DESCRIPTION = 1024;

export type Shown = { readonly name: string; readonly description: string; readonly inputSchema: JsonSchema };

export function portableTool({ name, description, inputSchema }: Shown, server = OUR_SERVER): Shown {
  const more = choiceText(inputSchema);
  const isFine = schemaProblem(inputSchema) === undefined;
  return {
    name: portableName(name, server),
    description: shortened(description, more === undefined ? '' : ` ${more}`),
    inputSchema: isFine ? inputSchema : portableSchema(inputSchema),
  };
}

/** Unchanged where it can be. Otherwise a hash of the whole name keeps two names apart that would become equal. */
export function portableName(name: string, server = OUR_SERVER): string {
  const most = Math.max(SHORTEST, MAX_NAME - prefixLength(server));
  if (name.length <= most && /^[a-zA-Z0-9_-]+$/.test(name)) return name;
  const plain = name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, most - HASH_LENGTH - 1);
  return `${plain}_${createHash('sha256').update(name).digest('hex').slice(0, HASH_LENGTH)}`;
}

/** The name of a tool for agents; `ownName` is what the user called it, for the policy and the audit log. */
export function agentName(ownName: string): { readonly name: string; readonly ownName?: string } {
  const name = portableName(ownName);
  return name === ownName ? { name } : { name, ownName };
}

/** Cut between words, and never inside a character. `more` is always kept. */
function shortened(description: string, more: string): string {
  const most = MAX_DESCRIPTION - more.length;
  if (description.length <= most) return `${description}${more}`;
  const cut = description.slice(0, most - 2).replace(/[\uD800-\uDBFF]$/, '');
  const atWord = cut.replace(/\s+\S*$/, '');
  return `${atWord.length > most / 2 ? atWord : cut} …${more}`;
}

/** Why an agent or a model API would refuse it. */
export function toolProblem({ name, description, inputSchema }: Shown, server = OUR_SERVER): string | undefined {
  if (!/^[a-zA-Z0-9_-]+$/.test(name)) return 'its name has characters that model APIs refuse';
  if (name.length > Math.max(SHORTEST, MAX_NAME - prefixLength(server))) return 'its name is too long';
  if (RESERVED.has(name)) return 'an agent reserves its name';
  if (description.length > MAX_DESCRIPTION) return 'its description is too long';
  return schemaProblem(inputSchema);
}

/** Names that agents keep for tools of their own, also behind a server's prefix: gemini 0.61 drops `ask_user`. */
const RESERVED = new Set(['ask_user']);
