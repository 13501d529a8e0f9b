// `switchboard changes`: the changes of sessions at the sandbox level `review` that wait for a decision.

import path from 'node:path';
import { readLayers } from '../../app/policy-layers.ts';
import { diffLines } from '../../client/diff-lines.ts';
import { managedPolicyFile } from '../../config/config.ts';
import { isInside } from '../../native-path.ts';
import type { Policy } from '../../policy/policy.ts';
import { combine } from '../../policy/rules/layers.ts';
import { allLayers, type Layer, ownerOf } from '../../review/layers.ts';
import { type Change, changesIn, removeIfDecided } from '../../review/review.ts';
import { lineOf, relativeTo, textsOf } from '../../review/show-change.ts';
import { CommandFailure } from '../failure.ts';
import { notice, printTable } from '../output.ts';
import { inEnvelope, print, printData } from '../policy/output.ts';
import { resolveConfig, surroundings } from '../resolve-config.ts';
import { applyChosen, dropChosen } from './decide-changes.ts';

export type ChangesFlags = { readonly json?: true; readonly config?: string };

const NO_SESSION = 4;
const DENIED = 5;
const NOT_APPLIED = 1;

const inProject = ({ roots }: Layer) => relativeTo(roots[0]);

const described = (layer: Layer, change: Change) => {
  const { kind, what, path: file, from, isConflict, isProtected, leadsOutside, after } = change;
  const link = after?.kind === 'link' ? { target: after.content } : {};
  return {
    kind,
    what,
    path: file,
    ...(from !== undefined && { from }),
    ...link,
    isConflict,
    isProtected,
    leadsOutside,
    line: lineOf(change, inProject(layer)),
  };
};

export function changesList(session: string | undefined, flags: ChangesFlags): Promise<number> {
  return inEnvelope('CHANGES_UNREADABLE', async () => {
    if (session !== undefined) {
      const layer = find(session);
      const changes = await changesIn(layer);
      if (flags.json) printData({ ...about(layer), changes: changes.map((change) => described(layer, change)) });
      else if (changes.length === 0) notice('no changes wait');
      else for (const change of changes) print(lineOf(change, inProject(layer)));
      return 0;
    }
    const listed = [];
    const warnings: string[] = [];
    for (const layer of allLayers(surroundings(flags).stateDir)) {
      if (await removeIfDecided(layer).catch(() => false)) continue;
      try {
        listed.push({ ...about(layer), count: (await changesIn(layer)).length });
      } catch (error) {
        listed.push({ ...about(layer), count: undefined });
        warnings.push(`${nameOf(layer)}: ${(error as Error).message}`);
      }
    }
    const waiting = listed.filter(({ count }) => count !== 0);
    if (flags.json) printData({ sessions: waiting }, warnings);
    else {
      for (const warning of warnings) notice(warning);
      if (waiting.length === 0) notice('no changes wait');
      else
        printTable(
          ['SESSION', 'AGENT', 'SINCE', 'CHANGES', 'DIRECTORY'],
          waiting.map(({ session: id, agent, since, count, roots }) => [
            ...[id, agent, since.slice(0, 16).replace('T', ' ')],
            ...[count === undefined ? '?' : String(count), roots[0] ?? ''],
          ]),
        );
    }
    return 0;
  });
}

export function changesShow(session: string, files: readonly string[], flags: ChangesFlags): Promise<number> {
  return inEnvelope('CHANGES_UNREADABLE', async () => {
    const { layer, changes } = await chosen(session, files);
    if (changes.length === 0 && !flags.json) notice('no changes wait');
    const shown = [];
    for (const change of changes) {
      const texts = await textsOf(layer, change);
      shown.push({ ...described(layer, change), ...texts });
      if (flags.json) continue;
      print(lineOf(change, inProject(layer)));
      if (texts.note !== undefined && texts.note !== lineOf(change)) print(`  ${texts.note}`);
      for (const { kind, text } of diffLines(texts.oldText ?? '', texts.newText ?? ''))
        print(`${kind === 'added' ? '+' : kind === 'removed' ? '-' : kind === 'hunk' ? '' : ' '}${text}`);
    }
    if (flags.json) printData({ ...about(layer), changes: shown });
    return 0;
  });
}

export function changesApply(session: string, files: readonly string[], flags: ChangesFlags): Promise<number> {
  return inEnvelope('CHANGES_NOT_APPLIED', async () => {
    const { layer, changes } = await chosen(session, files);
    const decided = await applyChosen(layer, changes, await policyHere(flags));
    const results = decided.map(({ change, isApplied, why }) => ({
      ...described(layer, change),
      isApplied,
      ...(why !== undefined && { why }),
    }));
    finish(layer, results, flags, 'applied');
    if (decided.some(({ isDenied }) => isDenied)) return DENIED;
    return results.every(({ isApplied }) => isApplied) ? 0 : NOT_APPLIED;
  });
}

export function changesDrop(session: string, files: readonly string[], flags: ChangesFlags): Promise<number> {
  return inEnvelope('CHANGES_NOT_DROPPED', async () => {
    const { layer, changes } = await chosen(session, files);
    await dropChosen(layer, changes, surroundings(flags).stateDir);
    finish(
      layer,
      changes.map((change) => ({ ...described(layer, change), isApplied: false })),
      flags,
      'dropped',
    );
    return 0;
  });
}

type Result = ReturnType<typeof described> & { readonly isApplied: boolean; readonly why?: string };

function finish(layer: Layer, results: readonly Result[], flags: ChangesFlags, done: string): void {
  if (flags.json) return printData({ ...about(layer), changes: results });
  if (results.length === 0) return notice('no changes wait');
  for (const { line, why } of results) print(why === undefined ? `${done}: ${line}` : `not applied: ${line}: ${why}`);
  if (ownerOf(layer) !== undefined) notice('the session is open; its agent sees this from its next turn on');
}

const nameOf = ({ id, sessionId }: Layer): string => sessionId ?? id;
const about = (layer: Layer) => ({ session: nameOf(layer), agent: layer.agent, since: layer.since, roots: layer.roots });

function find(named: string): Layer {
  const layers = allLayers(surroundings({}).stateDir);
  const found = layers.find((layer) => nameOf(layer) === named) ?? only(layers.filter((layer) => nameOf(layer).startsWith(named)));
  if (found) return found;
  throw new CommandFailure(NO_SESSION, `no changes of session "${named}" wait`, 'run: switchboard changes list', 'NO_CHANGES');
}

const only = (layers: readonly Layer[]): Layer | undefined => (layers.length === 1 ? layers[0] : undefined);

/** The changes of the named files, or of everything in the named directories. */
async function chosen(session: string, files: readonly string[]): Promise<{ readonly layer: Layer; readonly changes: readonly Change[] }> {
  const layer = find(session);
  const all = await changesIn(layer);
  if (files.length === 0) return { layer, changes: all };
  const isNamed = (file: string, named: string) =>
    [process.cwd(), ...layer.roots].some((base) => isInside(path.resolve(base, named), file));
  const missing = files.find((named) => !all.some(({ path: file, from }) => isNamed(file, named) || (from && isNamed(from, named))));
  if (missing !== undefined)
    throw new CommandFailure(NO_SESSION, `no change of "${missing}" waits`, `run: switchboard changes list ${nameOf(layer)}`, 'NO_CHANGES');
  return {
    layer,
    changes: all.filter(({ path: file, from }) => files.some((named) => isNamed(file, named) || (from && isNamed(from, named)))),
  };
}

/** A policy that cannot be read is an error. */
async function policyHere(flags: ChangesFlags): Promise<{ readonly policy: Policy | undefined; readonly stateDir: string }> {
  const { config, stateDir } = await resolveConfig(flags, () => {});
  const managedFile = managedPolicyFile(process.platform, process.env);
  const { layers } = await readLayers({ policies: config.policies, flag: undefined, managedFile, stateDir });
  return { policy: layers.length === 0 ? undefined : combine(layers), stateDir };
}
