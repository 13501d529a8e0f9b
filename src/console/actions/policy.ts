// The Policy screen: rules in force with hit counts, explanations, and dry runs of an edited policy.
import { z } from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { summaryOf } from '../../policy/actions/summary.ts';
import { decide } from '../../policy/decide.ts';
import { describedAction, describedMeaning, isAction } from '../../policy/described-action.ts';
import { loadPolicy } from '../../policy/format/load.ts';
import { hitKey, type LayeredRule } from '../../policy/policy.ts';
import { sourceOf } from '../../policy/rules/add-rule.ts';
import type { Redactor } from '../../redaction/redact.ts';
import type { DecisionText, PolicyActions, PolicyShown, PolicyTopics, RulePlace, RuleRow, Tried } from '../protocol/policy.ts';
import type { ActionsOf, TopicsOf } from '../server/screens.ts';
import { cleanValue } from '../state/clean-text.ts';
import type { PolicyState, PolicyStore } from './policy-store.ts';

type ScreenActions = Pick<PolicyActions, 'policy.explain' | 'policy.text' | 'policy.try' | 'policy.save'>;

const LOOK_EVERY_MS = 1000;
const MOST_CHANGED = 500;
const shortText = z.string().max(20_000);
const file = z.string().max(4000);

export function policyHandlers(policies: PolicyStore, redact: Redactor) {
  const clean = <T>(value: T): T => cleanValue(value, redact) as T;
  function state(): PolicyState {
    const found = policies.state();
    if (!found) throw new ClientError(-32600, 'there is no policy; set "policy" in the configuration, or start with --policy');
    return found;
  }
  function layerOf(wanted: string): PolicyState['layers'][number] {
    const layer = state().layers.find(({ policy }) => policy.file === wanted);
    if (!layer) throw new ClientError(-32602, 'this is not a file of the policy');
    return layer;
  }
  function shown(): PolicyShown {
    const found = policies.state();
    if (!found) return { isThere: false };
    const { layers, policy, isObserving, isOurs, problem, hits } = found;
    const week = policies.week();
    const inWeek = (rule: Parameters<typeof hitKey>[0]) => week && (week.get(hitKey(rule)) ?? 0);
    const texts = new Map(layers.map((layer) => [layer.policy.file, layer.text]));
    const row = ({ rule, layer, onlyTightens }: LayeredRule): RuleRow => {
      const { verdict, id, file: from, line, reason } = rule;
      const its = hits.get(hitKey(rule));
      const text = sourceOf(texts.get(from) ?? '', line);
      return {
        verdict,
        id,
        file: from,
        line,
        layer,
        text,
        reason,
        onlyTightens,
        hits: its?.count ?? 0,
        lastAt: its?.lastAt,
        week: inWeek(rule),
      };
    };
    const strict = (verdict: string) => policy.strict.filter(({ rule }) => rule.verdict === verdict);
    return clean({
      isThere: true,
      isObserving,
      isOurs,
      default: policy.default,
      defaultHits: hits.get(hitKey(undefined))?.count ?? 0,
      defaultWeek: inWeek(undefined),
      files: layers.map(({ name, policy: { file: from }, isTrusted = name !== 'project' }) => ({ layer: name, file: from, isTrusted })),
      rules: [...strict('deny'), ...strict('ask'), ...policy.allow, ...(policy.ceiling?.allow ?? [])].map(row),
      problem,
      place: placeShown(policies.place()),
    });
  }

  const actions: ActionsOf<ScreenActions> = {
    'policy.explain': {
      params: z
        .strictObject({
          agent: z.string().min(1).max(200),
          cwd: file.refine((directory) => directory.startsWith('/') || /^[A-Za-z]:/.test(directory), 'give an absolute directory'),
          command: shortText.optional(),
          path: file.optional(),
          tool: z.string().max(400).optional(),
          action: z.string().max(40).optional(),
        })
        .refine(({ command, path, tool }) => [command, path, tool].filter((one) => one).length === 1, 'give a command, a path or a tool'),
      perform({ agent, cwd, action, ...about }) {
        if (action !== undefined && !isAction(action)) throw new ClientError(-32602, 'unknown action');
        const asked = describedAction(policies.placeFor(agent, cwd), { ...about, action });
        const { verdict, why, rule, matches, opaque } = decide(state().policy, asked);
        const effects = asked.commands.map(({ argv, meaning, redirects }) => ({
          command: argv.join(' '),
          effects: [],
          ...describedMeaning(meaning, redirects),
        }));
        return clean({ verdict, why, rule, matches, opaque, effects, summary: summaryOf(asked) });
      },
    },
    'policy.text': {
      params: z.strictObject({ file }),
      perform({ file: wanted }) {
        return { text: clean(layerOf(wanted).text) };
      },
    },
    'policy.save': {
      params: z.strictObject({ file, text: z.string().max(1_000_000), before: z.string().max(1_000_000) }),
      async perform({ file: wanted, text, before }) {
        layerOf(wanted);
        const place = policies.place();
        if ('why' in place) throw new ClientError(-32600, clean(place.why));
        if (place.insteadOf !== wanted) throw new ClientError(-32602, `only ${clean(place.file)} can be changed here`);
        const { problems } = loadPolicy(wanted, text);
        const [first] = problems;
        if (first) throw new ClientError(-32602, clean(`line ${first.line}: ${first.message}`));
        await policies.write((now) => {
          // The page must not write back what was redacted for it.
          if (clean(now) !== now)
            throw new ClientError(-32600, 'the file has secrets or invisible characters, so the page cannot change it');
          if (now !== before) throw new ClientError(-32600, 'the file has changed since it was loaded; load its text again');
          return text;
        });
      },
    },
    'policy.try': {
      params: z.strictObject({ file, text: z.string().max(1_000_000), recording: file.optional() }),
      async perform({ file: wanted, text, recording }) {
        layerOf(wanted);
        const { policy: before, with: other } = state();
        const { problems } = loadPolicy(wanted, text);
        if (problems.length > 0) return clean({ ...NOTHING_TRIED, problems });
        const after = other(wanted, text);
        const past = await policies.past(recording === '' ? undefined : recording);
        const counts = { allow: 0, ask: 0, deny: 0 };
        const changed: Tried['changed'][number][] = [];
        for (const { where, action, answer } of past) {
          const [was, now] = [decisionText(decide(before, action)), decisionText(decide(after, action))];
          counts[now.verdict]++;
          if (was.verdict !== now.verdict && changed.length < MOST_CHANGED)
            changed.push({ where, agent: action.agent, summary: summaryOf(action), was, now, answer });
        }
        return clean({ problems: [], requests: past.length, counts, changed });
      },
    },
  };
  const topics: TopicsOf<PolicyTopics> = {
    policy: {
      params: z.strictObject({}),
      subscribe(_, send, page) {
        let before = '';
        const look = () => {
          if (page.isBehind) return;
          const news = shown();
          const text = JSON.stringify(news);
          if (text === before) return;
          before = text;
          send(news);
        };
        look();
        const timer = setInterval(look, LOOK_EVERY_MS);
        return () => clearInterval(timer);
      },
    },
  };
  return { actions, topics };
}

const placeShown = (place: ReturnType<PolicyStore['place']>): RulePlace =>
  'why' in place ? place : { file: place.file, isNew: place.isNew, insteadOf: place.insteadOf };

const NOTHING_TRIED = { requests: 0, counts: { allow: 0, ask: 0, deny: 0 }, changed: [] };

const decisionText = <Verdict extends string>({
  verdict,
  why,
}: {
  readonly verdict: Verdict;
  readonly why: string;
}): DecisionText & { verdict: Verdict } => ({
  verdict,
  why,
});
