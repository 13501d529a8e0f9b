// The changes of sessions at the sandbox level `review`, for the console.
import { createHash } from 'node:crypto';
import { ClientError } from '../../client/client-error.ts';
import type { WaitingChangeDeps } from '../../console/actions/waiting-changes.ts';
import type { WaitingChange } from '../../console/protocol/waiting-changes.ts';
import type { Policy } from '../../policy/policy.ts';
import { findLayer } from '../../review/layers.ts';
import { type Change, changesIn } from '../../review/review.ts';
import { lineOf, relativeTo, textsOf } from '../../review/show-change.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { applyChosen, dropChosen } from './decide-changes.ts';

/** Texts beyond this are not sent to the page. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export function waitingChanges(stateDir: string, policy: () => Policy | undefined): Omit<WaitingChangeDeps, 'redact'> {
  /** Two pages may decide at once. */
  const oneByOne = createSerialQueue();
  return {
    async list(sessionId) {
      const layer = findLayer(stateDir, sessionId);
      const shown: WaitingChange[] = [];
      let left = MAX_CHARACTERS;
      for (const change of layer ? await changesIn(layer) : []) {
        const { oldText, newText, note } =
          layer && left > 0 ? await textsOf(layer, change) : { note: 'Not shown: there is too much. Use `switchboard changes show`.' };
        left -= (oldText?.length ?? 0) + (newText?.length ?? 0);
        const { path, isConflict } = change;
        shown.push({ print: printOf(change), path, line: lineOf(change, relativeTo(layer?.roots[0])), isConflict, oldText, newText, note });
      }
      return shown;
    },
    decide: (sessionId, how, prints) =>
      oneByOne.run(async () => {
        const layer = findLayer(stateDir, sessionId);
        const all = new Map((layer ? await changesIn(layer) : []).map((change) => [printOf(change), change]));
        const chosen = prints.map((print) => all.get(print));
        // All or none: with a change that is different by now, the others may not fit together either.
        if (!layer || !chosen.every((change) => change !== undefined))
          throw new ClientError(-32600, 'the changes are different by now, or were decided elsewhere; look at them again');
        const line = (change: Change) => lineOf(change, relativeTo(layer.roots[0]));
        if (how === 'drop') {
          await dropChosen(layer, chosen, stateDir);
          return chosen.map((change) => `Dropped: ${line(change)}`);
        }
        const decided = await applyChosen(layer, chosen, { policy: policy(), stateDir });
        return decided.map(({ change, why }) => (why === undefined ? `Applied: ${line(change)}` : `Not applied: ${line(change)}: ${why}`));
      }),
  };
}

/** Changes with the file in the layer and the one below it. A trust decision depends on it. */
const printOf = ({ kind, path, from, after, before }: Change): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, path, from, after?.id, after?.content, before?.id]))
    .digest('hex');
