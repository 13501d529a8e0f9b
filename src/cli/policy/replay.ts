// `switchboard policy replay RECORDING`: evaluates recorded requests with a policy, and compares the result with another policy.
import os from 'node:os';
import path from 'node:path';
import { summaryOf } from '../../policy/actions/summary.ts';
import { decide } from '../../policy/decide.ts';
import type { Policy } from '../../policy/policy.ts';
import { combine } from '../../policy/rules/layers.ts';
import { canonicalPath } from '../../workspace/canonical.ts';
import { CommandFailure } from '../failure.ts';
import { readInput } from '../resolve-config.ts';
import { inEnvelope, print, printData } from './output.ts';
import { type PolicyFlags, policyInForce } from './policy-in-force.ts';
import { BrokenLine, type RecordedRequest, requestsIn } from './read-recording.ts';

export type ReplayFlags = PolicyFlags & {
  readonly against?: string;
  readonly agent?: string;
  readonly cwd: string;
  readonly headless?: true;
};

export function policyReplay(recording: string, flags: ReplayFlags): Promise<number> {
  return inEnvelope('REPLAY', async () => {
    const policy = await policyOf(flags);
    if (policy === undefined) return 6;
    const old = flags.against === undefined ? undefined : await policyOf({ ...flags, policy: flags.against });
    if (flags.against !== undefined && old === undefined) return 6;
    const requests = (await read(recording, flags)).map((request) => evaluated(request, policy, old));
    const changed = requests.filter(({ was, verdict }) => was !== undefined && was !== verdict);
    const count = (wanted: string) => requests.filter(({ verdict }) => verdict === wanted).length;
    const counts = { allow: count('allow'), ask: count('ask'), deny: count('deny') };
    if (flags.json) printData({ recording, requests, counts, ...(old !== undefined && { changed: changed.length }) });
    else {
      for (const { line, agent, method, summary, verdict, was, why } of requests) {
        const shown = was === undefined || was === verdict ? verdict : `${was} -> ${verdict}`;
        print(`${recording}:${line}: ${shown.padEnd(5)}  ${agent}  ${method}  ${summary}  (${why})`);
      }
      print(`${requests.length} requests: ${counts.allow} allow, ${counts.ask} ask, ${counts.deny} deny`);
      if (old !== undefined) print(changed.length === 0 ? 'no verdict changes' : `${changed.length} verdicts would change`);
    }
    return 0;
  });
}

function evaluated({ line, method, tier, action }: RecordedRequest, policy: Policy, old: Policy | undefined) {
  const { verdict, rule, why } = decide(policy, action);
  return {
    line,
    method,
    tier,
    agent: action.agent,
    session: action.session,
    summary: summaryOf(action),
    evidence: action.evidence,
    verdict,
    ...(old !== undefined && { was: decide(old, action).verdict }),
    rule: rule && { id: rule.id, file: rule.file, line: rule.line },
    why,
  };
}

async function policyOf(flags: ReplayFlags): Promise<Policy | undefined> {
  const found = await policyInForce(flags);
  return found && combine(found.layers);
}

async function read(recording: string, flags: ReplayFlags): Promise<RecordedRequest[]> {
  const text = await readInput('the recording', recording);
  const fallbackAgent = path.basename(recording).replace(/\..*$/, '');
  const place = {
    agent: flags.agent,
    fallbackAgent,
    cwd: path.resolve(flags.cwd),
    home: os.homedir(),
    interactive: flags.headless !== true,
  };
  try {
    return requestsIn(text, { ...place, canonical: canonicalPath });
  } catch (error) {
    if (!(error instanceof BrokenLine)) throw error;
    const hint = 'each line must be a frame, or an object with a frame under "msg"';
    throw new CommandFailure(2, `line ${error.line} of the recording is not JSON`, hint);
  }
}
