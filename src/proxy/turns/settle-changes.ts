// The end of a turn at the level `review`: the policy decides about each change of the layer. Allowed ones are applied, denied ones dropped; about the
// others the user is asked once. What nobody decides waits in the layer.
import type { Change, Outcome } from '../../review/review.ts';
import { lineOf, relativeTo } from '../../review/show-change.ts';
import type { Agent } from '../agents/agent.ts';
import type { Parts } from '../parts.ts';
import { choose } from '../requests/ask-client.ts';
import type { Session } from '../sessions/session.ts';
import { notifyInSession } from './notify-in-session.ts';

/** Longer lists are cut in the client; `switchboard changes` shows them whole. */
const MAX_SHOWN = 50;
const MAX_CHARACTERS = 256 * 1024;
const MAX_NAMED = 10;

const OPTIONS = [
  { optionId: 'apply', name: 'Apply', kind: 'allow_once' },
  // The first of the rejecting ones: a client that rejects by itself must not lose work.
  { optionId: 'keep', name: 'Decide later', kind: 'reject_once' },
  { optionId: 'drop', name: 'Drop', kind: 'reject_always' },
];

/** `mayAsk`: the turn was not cancelled. Calls back when everything is decided or waits. */
export function settleChanges(
  proxy: Parts<'context' | 'pool' | 'client' | 'requests'>,
  session: Session,
  agent: Agent,
  mayAsk: boolean,
  then: () => void,
): void {
  void settle(proxy, session, agent, mayAsk)
    .catch((error: unknown) => {
      const why = error instanceof Error ? error.message : String(error);
      proxy.context.report(`the changes of session ${session.publicId} wait in their layer: ${why}`);
      notifyInSession(proxy, session, 'error', 'The changes of this turn were not applied', `They wait in their layer: ${why}.`);
    })
    .finally(then);
}

async function settle(
  proxy: Parts<'context' | 'pool' | 'client' | 'requests'>,
  session: Session,
  agent: Agent,
  mayAsk: boolean,
): Promise<void> {
  const { review, enforcement } = proxy.context;
  const { layer } = agent;
  if (!review || layer === undefined) return;
  const changes = await review.changes(layer);
  if (changes.length === 0) return;
  const verdicts = new Map(changes.map((change) => [change, verdictOf(proxy, session, change)]));
  const having = (wanted: string) => changes.filter((change) => verdicts.get(change)?.verdict === wanted);
  const dropped = having('deny');
  await review.drop(layer, dropped);
  const applied = await review.apply(layer, having('allow'));
  const asked = having('ask');
  const answer = mayAsk && asked.length > 0 ? await ask(proxy, session, layer, asked) : 'keep';
  // The policy may have changed while the user read.
  const consented = answer === 'apply' ? asked.filter((change) => enforcement?.changeAnswered(session, change, true) ?? true) : [];
  if (answer !== 'apply') for (const change of answer === 'drop' ? asked : []) enforcement?.changeAnswered(session, change, false);
  const late = answer === 'apply' ? asked.filter((change) => !consented.includes(change)) : answer === 'drop' ? asked : [];
  await review.drop(layer, late);
  const outcomes = new Map([...applied, ...(await review.apply(layer, consented))]);
  const kept = [...outcomes].filter(([, { how }]) => how === 'kept');
  const waiting = answer === 'keep' ? asked : [];
  review.wait(layer, [...waiting, ...kept.map(([change]) => change)]);
  report(proxy, session, { outcomes, dropped, verdicts, waiting });
}

type Verdict = { readonly verdict: 'allow' | 'ask' | 'deny'; readonly why: string };

/** Without a policy the user decides about everything. */
function verdictOf(proxy: Parts<'context'>, session: Session, change: Change): Verdict {
  if (change.what === 'special') return { verdict: 'deny', why: 'a pipe, socket or device is never applied' };
  const { enforcement } = proxy.context;
  const mustAsk = change.leadsOutside || change.isProtected;
  return enforcement?.reviewChange(session, change, mustAsk) ?? { verdict: 'ask', why: 'there is no policy' };
}

async function ask(
  proxy: Parts<'context' | 'requests'>,
  session: Session,
  layer: string,
  changes: readonly Change[],
): Promise<'apply' | 'keep' | 'drop'> {
  const short = relativeTo(session.cwd);
  const content: unknown[] = [
    text(
      changes
        .slice(0, MAX_SHOWN)
        .map((change) => lineOf(change, short))
        .join('\n'),
    ),
  ];
  let left = MAX_CHARACTERS;
  for (const change of changes.slice(0, MAX_SHOWN)) {
    const shown = await proxy.context.review?.show(layer, change);
    if (!shown || shown.note !== undefined) continue;
    left -= (shown.oldText?.length ?? 0) + (shown.newText?.length ?? 0);
    if (left < 0) break;
    content.push({ type: 'diff', path: change.path, oldText: shown.oldText ?? null, newText: shown.newText ?? '' });
  }
  if (changes.length > MAX_SHOWN || left < 0)
    content.push(text(`Not everything is shown. All of it: switchboard changes show ${session.publicId}`));
  const title = `Apply ${changes.length === 1 ? '1 change' : `${changes.length} changes`} to the project`;
  const locations = changes.slice(0, MAX_SHOWN).map(({ path }) => ({ path }));
  try {
    const chosen = await choose(proxy, session, { title, kind: 'edit', locations, content }, OPTIONS, AbortSignal.timeout(MAX_WAIT_MS));
    return chosen === 'apply' || chosen === 'drop' ? chosen : 'keep';
  } catch {
    return 'keep'; // the client refused the request, or has gone
  }
}

/** A forgotten request must not hold a session for days. */
const MAX_WAIT_MS = 24 * 60 * 60 * 1000;

const text = (words: string) => ({ type: 'content', content: { type: 'text', text: words } });

type Settled = {
  readonly outcomes: ReadonlyMap<Change, Outcome>;
  readonly dropped: readonly Change[];
  readonly verdicts: ReadonlyMap<Change, Verdict>;
  readonly waiting: readonly Change[];
};

function report(proxy: Parts<'pool' | 'client'>, session: Session, { outcomes, dropped, verdicts, waiting }: Settled): void {
  const short = relativeTo(session.cwd);
  const kept = [...outcomes].flatMap(([change, outcome]) => (outcome.how === 'kept' ? [{ change, why: outcome.why }] : []));
  const sentences = [
    ...(dropped.length > 0 ? [`Dropped: ${list(dropped.map((change) => `${lineOf(change, short)}: ${verdicts.get(change)?.why}`))}.`] : []),
    ...(kept.length > 0 ? [`Not applied: ${list(kept.map(({ change, why }) => `${lineOf(change, short)}: ${why}`))}.`] : []),
    ...(waiting.length > 0 ? [`Waiting: ${list(waiting.map((change) => lineOf(change, short)))}.`] : []),
  ];
  if (sentences.length === 0) return;
  const next = kept.length + waiting.length > 0 ? ` Decide with: switchboard changes show ${session.publicId}` : '';
  notifyInSession(proxy, session, 'warning', 'Not all changes of this turn were applied', `${sentences.join(' ')}${next}`);
}

const list = (lines: readonly string[]): string =>
  `${lines.slice(0, MAX_NAMED).join('; ')}${lines.length > MAX_NAMED ? `; and ${lines.length - MAX_NAMED} more` : ''}`;
