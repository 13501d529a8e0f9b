// The policy of this process, as the console shows and extends it.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { packageFile } from '../../app/package-files.ts';
import type { EnforcedPolicy } from '../../app/policy.ts';
import { PRESETS } from '../../app/read-policy.ts';
import { countWeek } from '../../audit/count-rules.ts';
import type { PolicySource } from '../../config/config.ts';
import { userConfigFile } from '../../config/discover.ts';
import type { PolicyPlace, PolicyStore } from '../../console/actions/policy-store.ts';
import type { SessionRow } from '../../console/protocol/state.ts';
import { here } from '../../platform/platform.ts';
import { familyOf } from '../../policy/actions/agent-tools.ts';
import { hitKey } from '../../policy/policy.ts';
import { createSerialQueue } from '../../serial-queue.ts';
import { readToEdit, saveEdited } from '../../setup/edit-file.ts';
import { canonicalPath } from '../../workspace/canonical.ts';
import { findBelow } from '../../workspace/find-below.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';
import { pastInRecording, pastInTranscripts } from './past-requests.ts';

// The policy of `switchboard serve` when none is configured: the page can start agents, so it asks before they act.
export type DefaultPolicy = {
  /** The default shipped with switchboard. */
  readonly shipped: string;
  /** The user's file, once a rule was saved. */
  readonly own: string;
  source(): PolicySource;
};

export function defaultPolicy(flags: ConfigFlags): DefaultPolicy {
  const from = userConfigFile(surroundings(flags));
  const shipped = packageFile('config', 'policies', 'console.yaml');
  const own = path.join(path.dirname(from), 'console-policy.yaml');
  return {
    shipped,
    own,
    source: () => ({ layer: 'user', from, policy: existsSync(own) ? own : shipped, isFromTrusted: true }),
  };
}

export type PolicyStoreDeps = {
  readonly policy: EnforcedPolicy | undefined;
  /** The policy when none is configured; undefined where there is no default. */
  readonly otherwise: DefaultPolicy | undefined;
  readonly stateDir: string;
  readonly stored: () => readonly SessionRow[];
};

export function policyStore({ policy, otherwise, stateDir, stored }: PolicyStoreDeps): PolicyStore {
  const isOurs = (source: PolicySource) =>
    otherwise !== undefined && (source.policy === otherwise.shipped || source.policy === otherwise.own);

  function place(): PolicyPlace | { readonly why: string } {
    const { policies, layers } = policy?.state() ?? { policies: [], layers: [] };
    if (!policy) return { why: 'there is no policy to add a rule to; set "policy" in the configuration, or start with --policy FILE' };
    const source = policies.find(({ layer }) => layer === 'user');
    if (source && otherwise && isOurs(source))
      return { file: otherwise.own, isNew: !existsSync(otherwise.own), insteadOf: String(source.policy) };
    if (source) return placeIn(source);
    const given = layers.find(({ name }) => name === 'command-line')?.policy.file;
    if (given !== undefined && !PRESETS.some((name) => given.endsWith(path.join('config', 'policies', `${name}.yaml`)))) return own(given);
    return { why: 'the policy is not one of your files; name one as "policy" in the configuration, or start with --policy FILE' };
  }
  /** The content of a new file. The file in force may be deleted by now. */
  const begun = (insteadOf: string) => readFile(existsSync(insteadOf) ? insteadOf : (otherwise?.shipped ?? insteadOf), 'utf8');
  const placeFor: PolicyStore['placeFor'] = (agent, cwd) => ({
    agent,
    family: familyOf(agent),
    cwd: canonicalOr(cwd),
    home: canonicalOr(os.homedir()),
    interactive: true,
    canonical: canonicalPath,
    findBelow,
    shell: here.shell,
  });
  function found(): PolicyPlace {
    const at = place();
    if ('why' in at) throw new Error(at.why);
    return at;
  }

  async function write(change: (text: string) => string): Promise<void> {
    const { file, isNew, insteadOf } = found();
    const edited = await readToEdit(file);
    await saveEdited(edited, change(isNew ? await begun(insteadOf) : edited.text));
    if (isNew && otherwise) await policy?.use((policy.state().policies ?? []).map((one) => (isOurs(one) ? otherwise.source() : one)));
    else await policy?.reload();
  }
  /** Serialised: two pages may save at once, and neither rule may be lost. */
  const writes = createSerialQueue();

  const weekCounts = countWeek(stateDir, hitKey, Date.now);

  return {
    week: weekCounts,
    state() {
      const now = policy?.state();
      return now && { ...now, isOurs: now.policies.some(isOurs) };
    },
    place,
    async read() {
      const { file, isNew, insteadOf } = found();
      return isNew ? begun(insteadOf) : readFile(file, 'utf8');
    },
    write: (change) => writes.run(() => write(change)),
    placeFor,
    past: (recording) =>
      recording === undefined ? pastInTranscripts(stateDir, stored(), placeFor) : pastInRecording(recording, process.cwd(), placeFor),
  };
}

function placeIn({ from, policy }: PolicySource): PolicyPlace | { readonly why: string } {
  if (typeof policy !== 'string')
    return { why: `the policy is inline in ${from}; move it to a file and set "policy" to that file to add rules` };
  if (!PRESETS.includes(policy)) return own(path.resolve(path.dirname(from), policy));
  return {
    why: `the policy is the preset "${policy}", which you cannot edit; copy it and set "policy" in ${from} to the copy to add rules`,
  };
}

const own = (file: string): PolicyPlace => ({ file, isNew: false, insteadOf: file });

/** A missing directory can still be used for an explanation. */
function canonicalOr(directory: string): string {
  try {
    return canonicalPath(directory);
  } catch {
    return directory;
  }
}
