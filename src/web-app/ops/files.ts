// Files of a page: `diff.apply` writes a change that an agent showed, and `fileSystem` reads the beginning of a file. Both in the directories
// of a session, under its policy.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { fields } from '../../json-object.ts';
import type { AgentLink } from '../agent-link.ts';
import { refusals } from '../refusal.ts';
import { type Applied, applyChange } from '../shown-changes.ts';
import { type Op, op } from './op.ts';

const sessionId = z.string().min(1).nullish();
const apply = z.object({ sessionId, path: z.string().min(1), newText: z.string(), oldText: z.string().nullable().optional() });
const preview = z
  .object({ sessionId, path: z.string().min(1).optional(), uri: z.string().min(1).optional() })
  .refine(({ path: file, uri }) => file !== undefined || uri !== undefined, 'path or uri is missing');

const PREVIEW_LINES = 400;
const PREVIEW_CHARACTERS = 200_000;

function allowed({ proxy }: AgentLink, session: string, act: 'read' | 'edit', file: string): string | undefined {
  const verdict = proxy.byUser(session, act, file);
  if (!verdict.allow) throw refusals.denied(verdict.reason);
  return verdict.evaluatedPath;
}

/** A relative path belongs to the session's directory. */
function fileOf(given: string, cwd: string): string {
  if (!/^[a-z][a-z0-9+.-]+:/i.test(given) || path.isAbsolute(given)) return path.resolve(cwd, given);
  try {
    return fileURLToPath(given);
  } catch {
    throw refusals.notAFile(); // another scheme, or a file on another host
  }
}

const read = op(preview, async ({ principal }, { sessionId: given, uri, path: named }) => {
  const { sessionId: id, cwd, link } = await principal.sessions.use(given ?? undefined);
  const file = fileOf(named ?? uri ?? '', cwd);
  const evaluatedPath = allowed(link, id, 'read', file);
  const params = { sessionId: id, path: file, limit: PREVIEW_LINES + 1 };
  const { content } = fields(await principal.host.serve(id, 'fs/read_text_file', params, evaluatedPath));
  const lines = String(content).split('\n');
  const whole = lines.slice(0, PREVIEW_LINES).join('\n');
  // Cut after redaction: half a secret would not be recognised.
  const text = principal.deps.secrets.redact(whole).slice(0, PREVIEW_CHARACTERS);
  const hasMore = lines.slice(PREVIEW_LINES).some((line, index) => line !== '' || index > 0);
  const truncated = hasMore || whole.length > PREVIEW_CHARACTERS;
  return { path: file, text, content: text, truncated };
});

export const fileOps: Readonly<Record<string, Op>> = {
  'diff.apply': op(apply, async ({ principal }, { sessionId: given, path: named, newText, oldText }) => {
    const { sessionId: id, cwd, link, changes } = await principal.sessions.use(given ?? undefined);
    const file = fileOf(named, cwd);
    const base = oldText === undefined ? await changes.baseOf(file, newText) : { text: oldText };
    const evaluatedPath = allowed(link, id, 'edit', file);
    let applied: Applied = { isThere: true };
    const edit = (text: string | undefined) => {
      applied = applyChange(text, base, newText);
      return 'text' in applied ? applied.text : undefined;
    };
    const { isWritten } = await principal.host.edit(id, file, edit, evaluatedPath);
    const outcome = applied as Applied;
    if ('conflict' in outcome) throw refusals.conflict(file, outcome.conflict);
    return { ok: true, path: file, written: isWritten };
  }),
  fileSystem: read,
};

/** The ops of the service `fileSystem`: whatever a page calls the preview. */
export const fileSystemOps: Readonly<Record<string, Op>> = Object.fromEntries(
  ['read', 'readFile', 'readTextFile', 'preview'].map((name) => [name, read]),
);
