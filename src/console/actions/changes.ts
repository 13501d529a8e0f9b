// Applies an agent's changes on behalf of the user: the chosen hunks, into the current file, inside the session's directories. Only what
// was shown is written: a change with redacted text cannot be applied here.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import { fields } from '../../json-object.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { ByUser, Host } from '../client/workspace.ts';
import type { ChangeAt, ChatActions, HunkState } from '../protocol/chat.ts';
import type { ToolContent } from '../protocol/conversation.ts';
import { type Hunk, hunksOf, linesOf, MAX_COMPARED } from '../protocol/hunks.ts';
import type { StateKeeper } from '../state/state.ts';
import { applyHunks, aroundHunk, placeHunks, plainText } from './apply-hunks.ts';

export type ChangesDeps = { readonly state: StateKeeper; readonly host: Host; readonly byUser: ByUser; readonly redact: Redactor };
type Diff = Extract<ToolContent, { type: 'diff' }>;
type Found = { readonly diff: Diff; readonly hunks: readonly Hunk[]; readonly file: string };

const PREVIEW_LINES = 400;
/** A single line may be as long as the file. */
const PREVIEW_CHARACTERS = 200_000;

export function createChanges({ state, host, byUser, redact }: ChangesDeps) {
  function find({ sessionId, toolCallId, at, print }: ChangeAt): Found {
    const row = state.row(sessionId);
    const item = state.conversation(sessionId)?.items.findLast((one) => one.kind === 'tool' && one.toolCallId === toolCallId);
    const diff = item?.kind === 'tool' ? item.content?.[at] : undefined;
    // A change that was altered for display has no fingerprint and cannot be applied.
    if (!row || diff?.type !== 'diff' || diff.print !== print)
      throw new ClientError(-32602, 'the change has since been replaced or dropped; review it again');
    if ((diff.oldText?.length ?? 0) + diff.newText.length > MAX_COMPARED)
      throw new ClientError(-32602, 'the change is too large to apply here');
    return { diff, hunks: hunksOf(diff), file: path.resolve(row.cwd, diff.path) };
  }
  function allowed(sessionId: string, operation: 'read' | 'edit', file: string): string | undefined {
    const verdict = byUser(sessionId, operation, file);
    if (!verdict.allow) throw new ClientError(-32603, verdict.reason);
    return verdict.evaluatedPath;
  }
  /** The state of each hunk, with the current text for those that conflict. */
  function statesOf(text: string | undefined, { diff, hunks }: Found): readonly HunkState[] {
    const plain = text === undefined ? undefined : plainText(text);
    return placeHunks(plain, diff, hunks).map((placed, index): HunkState => {
      if (placed.state !== 'conflict') return { state: placed.state };
      const found = text === undefined ? undefined : neutralise(redact(aroundHunk(text, hunks[index] as Hunk)));
      return { state: 'conflict', why: placed.why, found };
    });
  }

  return {
    async hunks(change: ChangeAt): Promise<ChatActions['hunks']['result']> {
      const found = find(change);
      const { sessionId } = change;
      const evaluatedPath = allowed(sessionId, 'read', found.file);
      const text = await host.serve(sessionId, 'fs/read_text_file', { sessionId, path: found.file }, evaluatedPath).then(
        (answer) => String(fields(answer).content),
        (error: unknown) => {
          if (error instanceof ClientError && error.code === -32002) return undefined;
          throw error;
        },
      );
      return { hunks: statesOf(text, found) };
    },
    /** All chosen hunks or none. */
    async apply(change: ChatActions['apply']['params']): Promise<ChatActions['apply']['result']> {
      const found = find(change);
      const { sessionId, hunks: chosen } = change;
      const evaluatedPath = allowed(sessionId, 'edit', found.file);
      let states: readonly HunkState[] = [];
      const edit = (text: string | undefined): string | undefined => {
        const applied = applyHunks(text, found.diff, chosen, found.hunks);
        const isFine = 'text' in applied && applied.isChanged;
        states = statesOf(isFine ? applied.text : text, found);
        return isFine ? applied.text : undefined;
      };
      const { isWritten } = await host.edit(sessionId, found.file, edit, evaluatedPath);
      if (isWritten) {
        const some = states.length === 1 ? 'the change' : `${new Set(chosen).size} of ${states.length} hunks`;
        state.event(sessionId, { e: 'note', text: `You applied ${some} to ${found.diff.path}.` });
      }
      return { isWritten, hunks: states };
    },
    /** The beginning of a file that the agent names, if the session may reach it. */
    async preview(sessionId: string, uri: string): Promise<ChatActions['preview']['result']> {
      const row = state.row(sessionId);
      const file = fileOf(uri);
      if (!row || file === undefined) throw new ClientError(-32602, 'only files on this machine can be previewed');
      const evaluatedPath = allowed(sessionId, 'read', file);
      const params = { sessionId, path: file, limit: PREVIEW_LINES + 1 };
      const { content } = fields(await host.serve(sessionId, 'fs/read_text_file', params, evaluatedPath));
      const lines = linesOf(String(content));
      const whole = lines.slice(0, PREVIEW_LINES).join('');
      const isCut = lines.length > PREVIEW_LINES || whole.length > PREVIEW_CHARACTERS;
      // Cut after cleaning: half a secret would not be recognised.
      return { text: neutralise(redact(whole)).slice(0, PREVIEW_CHARACTERS), isCut };
    },
  };
}

function fileOf(uri: string): string | undefined {
  if (path.isAbsolute(uri)) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return undefined; // another URL scheme, or a file on another host
  }
}
