// "Always" as a rule: proposed for a pending request, shown with its file, edited, saved; then the request is answered accordingly.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { neutralise } from '../../control-characters.ts';
import type { Action } from '../../policy/actions/action.ts';
import { decide } from '../../policy/decide.ts';
import { addRule, ruleText } from '../../policy/rules/add-rule.ts';
import { proposeRule } from '../../policy/rules/propose-rule.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { Checked, PolicyActions } from '../protocol/policy.ts';
import type { ActionsOf } from '../server/screens.ts';
import type { StateKeeper } from '../state/state.ts';
import type { PolicyPlace, PolicyStore } from './policy-store.ts';

type RuleActions = Pick<PolicyActions, 'rule.propose' | 'rule.check' | 'rule.save'>;

const about = { requestId: z.uuid(), verdict: z.enum(['allow', 'deny']) };
const withRule = z.strictObject({ ...about, rule: z.string().max(20_000) });

export function ruleActions(state: StateKeeper, policies: PolicyStore, redact: Redactor, now: () => number): ActionsOf<RuleActions> {
  const clean = (text: string) => neutralise(redact(text));

  function actionOf(requestId: string): Action | undefined {
    const open = state.openRequest(requestId);
    if (!open) throw new ClientError(-32600, 'the request has already been answered');
    return open.policyResult?.action;
  }
  function placeOrThrow(): PolicyPlace {
    const place = policies.place();
    if ('why' in place) throw new ClientError(-32600, place.why);
    return place;
  }
  /** The decision under the new rule. */
  function check(place: PolicyPlace, text: string, action: Action | undefined, verdict: 'allow' | 'deny', rule: string): Checked {
    const added = addRule(place.file, text, verdict, rule);
    if ('problems' in added)
      return {
        problems: added.problems.map(({ line, column, message, hint }) => ({
          line,
          column,
          message: clean(message),
          hint: hint && clean(hint),
        })),
      };
    const policy = policies.state()?.with(place.insteadOf, added.text);
    const decision = action && policy && decide(policy, action);
    return { problems: [], line: added.line, after: decision && { verdict: decision.verdict, why: clean(decision.why) } };
  }

  return {
    'rule.propose': {
      params: z.strictObject(about),
      perform({ requestId, verdict }) {
        const action = actionOf(requestId);
        if (!action) return { cannot: 'there is no policy to add a rule to' };
        const place = policies.place();
        if ('why' in place) return { cannot: clean(place.why) };
        const proposed = proposeRule(action);
        if ('cannot' in proposed) return { cannot: `no rule can be made for this request: ${clean(proposed.cannot)}` };
        const day = new Date(now()).toISOString().slice(0, 10);
        const rule = ruleText({
          ...proposed,
          reason: `${verdict === 'allow' ? 'allowed' : 'rejected'} in the console on ${day}`,
        }).trimEnd();
        // Text that must not be shown must not be written to a file either.
        if (clean(rule) !== rule) return { cannot: 'no rule can be made for this request: it contains secrets or invisible characters' };
        return { rule, place: { file: clean(place.file), isNew: place.isNew } };
      },
    },
    'rule.check': {
      params: withRule,
      async perform({ requestId, verdict, rule }) {
        return check(placeOrThrow(), await policies.read(), actionOf(requestId), verdict, rule);
      },
    },
    'rule.save': {
      params: withRule,
      async perform({ requestId, verdict, rule }, page) {
        const action = actionOf(requestId);
        let checked: Checked = { problems: [] };
        await policies.write((text) => {
          const place = placeOrThrow(); // another page may have saved meanwhile, so the file may exist now
          checked = check(place, text, action, verdict, rule);
          const added = addRule(place.file, text, verdict, rule);
          if ('problems' in added) throw new ClientError(-32602, added.problems.map(({ message }) => clean(message)).join('; '));
          return added.text;
        });
        const options = state.openRequest(requestId)?.request.options ?? [];
        const kinds = verdict === 'allow' ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
        const option = kinds.map((kind) => options.findIndex((one) => one.kind === kind)).find((index) => index !== -1);
        const isAnswered = option !== undefined && state.answer(requestId, option, page.id);
        return { ...checked, isAnswered };
      },
    },
  };
}
