// The files of a policy, in order of precedence: managed, user, project, command line.
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import type { PolicySource } from '../config/config.ts';
import { isTrusted } from '../config/trust.ts';
import { errorCode, isAbsent, readForeign } from '../config/watch-files.ts';
import { here } from '../platform/platform.ts';
import { loadPolicy } from '../policy/format/load.ts';
import { renderProblem } from '../policy/format/problem.ts';
import type { Layer } from '../policy/rules/layers.ts';
import { SetupFailure } from './api.ts';
import { readPolicyText } from './read-policy.ts';

export type ReadLayer = Layer & { readonly text: string };

export type LayerSources = {
  readonly policies: readonly PolicySource[];
  /** `--policy`. */
  readonly flag: string | undefined;
  /** The organisation's file, which may be absent. */
  readonly managedFile: string;
  readonly stateDir: string;
};

type Unusable = { readonly file: string; readonly problem: string };

export type ReadLayers = {
  readonly layers: readonly ReadLayer[];
  /** The files to watch, whether they exist or not. */
  readonly files: readonly string[];
  readonly notices: readonly string[];
};

/**
 * `before` is the previous result: a project file that has become invalid since loosens nothing. Throws a SetupFailure that lists every
 * problem of a required file.
 */
export async function readLayers(
  { policies, flag, managedFile, stateDir }: LayerSources,
  before: readonly ReadLayer[] = [],
): Promise<ReadLayers> {
  const layers: ReadLayer[] = [];
  const files: string[] = [managedFile];
  const notices: string[] = [];
  const managed = await readManaged(managedFile);
  if (managed !== undefined) layers.push(usable('managed', managedFile, managed));
  for (const source of policies) {
    if (source.layer === 'project') {
      const found = await readProject(source, stateDir, files);
      if (!('problem' in found)) layers.push(found);
      else {
        const last = before.find(({ name, policy }) => name === 'project' && policy.file === found.file);
        notices.push(`${found.problem}${last ? '; the previous policy stays in force' : ' and is ignored'}`);
        if (last) layers.push(last);
      }
      continue;
    }
    const { file, text } = await textOf(source, files);
    layers.push(usable('user', file, text));
  }
  if (flag !== undefined) {
    const { file, text } = await readPolicyText(flag);
    files.push(file);
    layers.push(usable('command-line', file, text));
  }
  return { layers, files, notices };
}

/** Marks a policy inside a configuration file. */
const INLINE = '#policy';

async function textOf({ from, policy }: PolicySource, files: string[]): Promise<{ readonly file: string; readonly text: string }> {
  // The position inside the configuration file is unknown here, so lines count from the start of the policy.
  if (typeof policy !== 'string') return { file: `${from}${INLINE}`, text: JSON.stringify(policy, null, 1) };
  const { file, text } = await readPolicyText(policy, path.dirname(from));
  files.push(file);
  return { file, text };
}

/** `before` is the layer that this one replaces. Throws a SetupFailure that lists every problem. */
export function usable(name: Layer['name'], file: string, text: string, before?: ReadLayer): ReadLayer {
  const { policy, problems } = loadPolicy(file, text);
  if (policy) return { ...before, name, policy, text };
  throw new SetupFailure(
    'POLICY_INVALID',
    ['the policy is not usable', ...problems.map(renderProblem)].join('\n'),
    `check it: switchboard ${file.endsWith(INLINE) ? `config validate ${file.slice(0, -INLINE.length)}` : `policy check ${file}`}`,
  );
}

/** A file from a repository must not stop the switchboard; its allow rules apply only if the user trusts its exact content. */
async function readProject(source: PolicySource, stateDir: string, files: string[]): Promise<ReadLayer | Unusable> {
  const { from, policy } = source;
  if (typeof policy !== 'string') {
    const { file, text } = await textOf(source, files);
    return projectLayer(file, text, source.isFromTrusted);
  }
  const file = path.resolve(path.dirname(from), policy);
  files.push(file);
  try {
    const { text } = await readForeign(file);
    return projectLayer(file, text, await isTrusted(stateDir, text));
  } catch (error) {
    return { file, problem: `the project's policy ${file} cannot be read (${errorCode(error)})` };
  }
}

function projectLayer(file: string, text: string, isVouchedFor: boolean): ReadLayer | Unusable {
  const { policy, problems } = loadPolicy(file, text);
  if (policy) return { name: 'project', policy, text, isTrusted: isVouchedFor };
  return { file, problem: `the project's policy is not usable: ${problems.slice(0, 3).map(renderProblem).join('; ')}` };
}

/** A file that others can write is neither obeyed nor skipped. */
async function readManaged(file: string): Promise<string | undefined> {
  try {
    const handle = await open(file, constants.O_RDONLY);
    try {
      const { mode } = await handle.stat();
      if (here.hasModes && (mode & 0o022) !== 0)
        throw new SetupFailure(
          'POLICY_INVALID',
          `the managed policy ${file} is writable by other users than its owner`,
          `as its owner: chmod go-w ${file}`,
        );
      return (await handle.readFile('utf8')).replace(/^\uFEFF/, '');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isAbsent(error)) return undefined;
    if (error instanceof SetupFailure) throw error;
    throw new SetupFailure(
      'POLICY_INVALID',
      `the managed policy ${file} cannot be read (${errorCode(error)})`,
      'ask the administrator of this machine',
    );
  }
}
