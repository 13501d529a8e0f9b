// Lists and decides the changes of a session that wait. Only what the page showed is applied.
import { z } from 'zod';
import { neutralise } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { WaitingChange, WaitingChangeActions } from '../protocol/waiting-changes.ts';
import type { ActionsOf, Handlers } from '../server/screens.ts';

export type WaitingChangeDeps = {
  readonly list: (sessionId: string) => Promise<readonly WaitingChange[]>;
  /** Returns a line for each change that was given. */
  readonly decide: (sessionId: string, how: 'apply' | 'drop', prints: readonly string[]) => Promise<readonly string[]>;
  readonly redact: Redactor;
};

const MAX_CHANGES = 100_000;
const sessionId = z.string().min(1).max(2000);

export function waitingChangeHandlers({ list, decide, redact }: WaitingChangeDeps): Handlers {
  const clean = (text: string) => neutralise(redact(text));
  async function shown(id: string): Promise<readonly WaitingChange[]> {
    return (await list(id)).map((change) => {
      const { path, line, oldText, newText, note } = change;
      const texts = {
        oldText: oldText === undefined ? undefined : clean(oldText),
        newText: newText === undefined ? undefined : clean(newText),
      };
      const isWhole = texts.oldText === oldText && texts.newText === newText;
      const hidden = 'Secrets are hidden here, and invisible characters are shown by name. The file has them as they are.';
      return { ...change, ...texts, path: clean(path), line: clean(line), note: isWhole ? note && clean(note) : hidden };
    });
  }
  const actions: ActionsOf<WaitingChangeActions> = {
    waitingChanges: { params: z.strictObject({ sessionId }), perform: async (given) => ({ changes: await shown(given.sessionId) }) },
    decideChanges: {
      params: z.strictObject({
        sessionId,
        how: z.enum(['apply', 'drop']),
        prints: z.array(z.string().min(1).max(100)).min(1).max(MAX_CHANGES),
      }),
      async perform({ sessionId: id, how, prints }) {
        const report = (await decide(id, how, prints)).map(clean);
        return { report, changes: await shown(id) };
      },
    },
  };
  return { actions };
}
