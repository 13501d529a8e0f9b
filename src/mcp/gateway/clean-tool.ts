// A foreign tool as agents may see it: without characters that models read and people do not see, and identified by its hash.
import { createHash } from 'node:crypto';
import type { JsonSchema } from '../server/tool.ts';

export type ForeignTool = {
  readonly name: string;
  readonly title: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonSchema;
};

/** Control characters (except tab and line ends), zero-width characters, bidirectional overrides, tags and private use. */
const INVISIBLE = /[^\P{C}\t\n\r]|[\u200B-\u200F\u202A-\u202E\u2060-\u2064\u2066-\u206F\uFEFF\u{E0000}-\u{E007F}]/gu;
const MAX_DESCRIPTION = 8192;
const NAME = /^[A-Za-z0-9_./-]{1,128}$/;

export type Cleaned = { readonly tool: ForeignTool; readonly removed: number };

/** Undefined for a tool that cannot be offered under its name. */
export function cleanTool(raw: {
  name: string;
  title?: string | undefined;
  description?: string | undefined;
  inputSchema: object;
}): Cleaned | undefined {
  if (!NAME.test(raw.name)) return undefined;
  let removed = 0;
  const clean = cleaner(() => {
    removed++;
  });
  const description = String(clean(raw.description ?? '')).slice(0, MAX_DESCRIPTION);
  const title = raw.title === undefined ? undefined : String(clean(raw.title));
  const inputSchema = { ...(clean(raw.inputSchema) as JsonSchema), type: 'object' };
  return { tool: { name: raw.name, title, description, inputSchema }, removed };
}

/** A copy without invisible characters. */
export const withoutInvisible = <T>(value: T): T => cleaner(() => {})(value) as T;

function cleaner(onRemoved: () => void): (value: unknown) => unknown {
  const clean = (value: unknown): unknown => {
    if (typeof value === 'string')
      return value.replace(INVISIBLE, () => {
        onRemoved();
        return '';
      });
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [String(clean(key)), clean(inner)]));
  };
  return clean;
}

/** The same for the same tool, in any order of its members. */
export function hashOf(tool: ForeignTool): string {
  return createHash('sha256').update(canonical(tool)).digest('hex');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${canonical(inner)}`).join(',')}}`;
}
