// `switchboard policy explain`: the normal form of a request, every rule that concerns it, and the verdict.
import { statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text as readAll } from 'node:stream/consumers';
import { here } from '../../platform/platform.ts';
import { ACTIONS, type Action, type ActionKind, type Place } from '../../policy/actions/action.ts';
import { familyOf } from '../../policy/actions/agent-tools.ts';
import { type Decision, decide } from '../../policy/decide.ts';
import { describedAction, describedMeaning, isAction } from '../../policy/described-action.ts';
import { didYouMean } from '../../policy/format/nearest.ts';
import { combine } from '../../policy/rules/layers.ts';
import { sandboxOf } from '../../policy/rules/settings.ts';
import { ifNotAsked } from '../../sandbox/profile/explain.ts';
import { containmentOf } from '../../sandbox/settings.ts';
import { canonicalPath } from '../../workspace/canonical.ts';
import { findBelow } from '../../workspace/find-below.ts';
import { CommandFailure } from '../failure.ts';
import { readInput } from '../resolve-config.ts';
import { complainAbout, print, printData } from './output.ts';
import { type PolicyFlags, policyInForce } from './policy-in-force.ts';
import { requestIn } from './read-frame.ts';
import { bundleIn, inWords, policiesOf, shownBundle } from './signed-bundle.ts';

export type ExplainFlags = PolicyFlags & {
  readonly bundle?: string;
  readonly agent: string;
  readonly command?: string;
  readonly path?: string;
  readonly action?: string;
  readonly tool?: string;
  readonly frame?: string;
  readonly cwd: string;
  readonly headless?: true;
  readonly exitCode?: true;
};

const DENIED = 5;

export async function policyExplain(flags: ExplainFlags): Promise<number> {
  const subjects = [flags.command, flags.path, flags.tool, flags.frame].filter((subject) => subject !== undefined);
  if (subjects.length !== 1)
    throw new CommandFailure(2, 'use exactly one of --command, --path, --tool and --frame', 'run: switchboard policy explain --help');
  const inForce = await policyInForce(flags);
  if (inForce === undefined) return 6;
  const bundle = flags.bundle === undefined ? undefined : await bundleIn(flags.bundle);
  const ofBundle = bundle ? policiesOf(bundle) : [];
  const unusable = ofBundle.flatMap(({ problems }) => problems);
  if (unusable.length > 0) {
    complainAbout('POLICY_INVALID', unusable, flags);
    return 6;
  }
  const above = ofBundle.flatMap(({ policy: one }) => (one ? [{ name: 'bundle' as const, policy: one }] : []));
  const policy = combine([...above, ...inForce.layers]);
  const { action, tier } = await requested(flags);
  const decision = decide(policy, action);
  const { level, network } = containmentOf(inForce.sandboxOf(flags.agent), sandboxOf(policy, flags.agent));
  const contained = ifNotAsked(policy, { level, network }, action, decision, kindOf);
  if (flags.json)
    printData({
      ...decision,
      tier,
      ...(contained && { contained: { level, network, ...contained } }),
      ...(bundle && { bundle: shownBundle(bundle) }),
      asked: shown(action),
    });
  else printExplanation(bundle && inWords(bundle), inForce.name, action, decision, tier, contained?.text);
  return flags.exitCode && decision.verdict === 'deny' ? DENIED : 0;
}

async function requested(flags: ExplainFlags): Promise<{ readonly action: Action; readonly tier: string | undefined }> {
  const home = os.homedir();
  const place: Place = {
    agent: flags.agent,
    family: familyOf(flags.agent),
    cwd: canonicalOr(path.resolve(flags.cwd)),
    home: canonicalOr(home),
    interactive: flags.headless !== true,
    canonical: canonicalPath,
    findBelow,
    shell: here.shell,
  };
  if (flags.frame !== undefined) return requestInFrame(flags.frame, place);
  const { command, path: file, tool } = flags;
  // A command always means `execute`, whatever --action says.
  const action = flags.action === undefined || command !== undefined ? undefined : actionOf(flags.action);
  return { action: describedAction(place, { command, path: file, tool, action }), tier: undefined };
}

async function requestInFrame(file: string, place: Place): Promise<{ readonly action: Action; readonly tier: string }> {
  const content = file === '-' ? await readAll(process.stdin) : await readInput('the frame', file);
  let found: ReturnType<typeof requestIn>;
  try {
    found = requestIn(content, place);
  } catch {
    throw new CommandFailure(2, 'the file contains neither a JSON value nor one value per line');
  }
  if (found === undefined)
    throw new CommandFailure(
      2,
      'the file contains no request that a policy decides',
      'a policy decides session/request_permission, fs/* and terminal/create',
    );
  return found;
}

function actionOf(word: string): ActionKind {
  if (isAction(word)) return word;
  throw new CommandFailure(2, `unknown action "${word}"`, didYouMean(word, ACTIONS) ?? `actions: ${ACTIONS.join(', ')}`);
}

// A missing directory can still be used for an explanation.
function canonicalOr(directory: string): string {
  try {
    return canonicalPath(directory);
  } catch {
    return directory;
  }
}

function kindOf(file: string): 'file' | 'directory' | undefined {
  try {
    return statSync(file).isDirectory() ? 'directory' : 'file';
  } catch {
    return undefined;
  }
}

function shown({ kind: action, commands, paths, ...rest }: Action) {
  return {
    action,
    ...rest,
    commands: commands.map(({ argv, where, isLiteral, evidence, cwds, operands, meaning, redirects }) => ({
      argv,
      where,
      isLiteral,
      evidence,
      cwds,
      files: [...new Set(operands.map((operand) => operand.path))],
      ...describedMeaning(meaning, redirects),
    })),
    paths: paths.map(({ path: file, access, evidence }) => ({ path: file, access, evidence })),
  };
}

function printExplanation(
  bundle: string | undefined,
  policy: string,
  action: Action,
  decision: Decision,
  tier: string | undefined,
  contained: string | undefined,
): void {
  const row = (name: string, value: string | undefined) => value !== undefined && value !== '' && print(`${name.padEnd(10)}${value}`);
  row('policy', policy);
  row('bundle', bundle);
  row('agent', action.agent);
  row('cwd', action.cwd);
  row('action', `${action.kind} (evidence: ${action.evidence}${tier === undefined ? '' : `; ${tier}`})`);
  row('tool', action.tool);
  row('mcp', action.mcp && `${action.mcp.server}:${action.mcp.tool}`);
  for (const { argv, where, operands, meaning, redirects } of action.commands) {
    row('command', `${argv.map(quoted).join(' ')}${where === 'within' ? '   (nested)' : ''}`);
    const { effects = [], notUnderstood } = describedMeaning(meaning, redirects);
    for (const { does, what, unasked } of effects) row('', `${does.padEnd(9)}${what}${unasked ? '   (unasked)' : ''}`);
    const files = meaning.isUnderstood ? [] : [...new Set(operands.map((operand) => operand.path))];
    if (files.length > 0) row('', `files: ${files.join(', ')}`);
    if (notUnderstood !== undefined && where === 'line') row('', `not understood: ${quoted(notUnderstood.word)} (${notUnderstood.reason})`);
  }
  for (const { path: file, access, evidence } of action.paths) row('path', `${file} (${access}, ${evidence})`);
  for (const host of action.hosts) row('host', host);
  for (const reason of action.opaque) row('opaque', reason);
  print('');
  for (const { verdict, id, file, line, layer, reason } of decision.matches)
    print(`  ${verdict.padEnd(6)}${id}  ${file}:${line}  (${layer})${reason === undefined ? '' : `  ${reason}`}`);
  if (decision.matches.length === 0) print('  no rule matches');
  print('');
  row('verdict', decision.verdict);
  row('because', decision.why);
  row('contained', contained);
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}
