// Checks the sandbox: whether there is one, whether it holds, and what each agent gets.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { bridgeScript } from '../../app/package-files.ts';
import type { Sandbox } from '../../app/sandbox.ts';
import type { Config } from '../../config/config.ts';
import { openLayer, removeLayer } from '../../review/layers.ts';
import { mountLayer } from '../../review/namespace.ts';
import { TEMPORARY } from '../../sandbox/profile/defaults.ts';
import { availableSandbox } from '../../sandbox/run/available.ts';
import { attackItself } from '../../sandbox/run/self-attack.ts';
import { summaryLine } from '../../transports/stderr-tail.ts';
import { type Finding, ok, problem, warning } from './finding.ts';

const isTemporary = (file: string): boolean => TEMPORARY.some((directory) => file.startsWith(`${directory}/`));

/** Mounts a layer where sessions would have theirs. */
function checkOverlay(stateDir: string): Finding {
  const project = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'switchboard-doctor-')));
  const layer = openLayer(stateDir, `doctor-${process.pid}`, { roots: [project], agent: '' }, new Date().toISOString());
  try {
    const namespace = mountLayer(layer);
    if ('problem' in namespace)
      return problem('sandbox.overlay', 'no overlay', `${namespace.problem}; agents with the level "review" do not start`, namespace.next);
    namespace.close();
    return ok('sandbox.overlay', 'overlays work, for the level "review"');
  } finally {
    removeLayer(layer, (directory) => chmodSync(directory, 0o700));
    rmSync(project, { recursive: true, force: true });
  }
}

export async function checkSandbox(config: Config | undefined, sandbox: Sandbox, stateDir: string): Promise<Finding[]> {
  const agents = config?.agents ?? [];
  const wanted = agents
    .map((spec) => ({ spec, ...sandbox.containment(spec) }))
    .filter(({ level, spec }) => level !== 'off' && !spec.remote);
  const found = availableSandbox();
  if ('problem' in found) {
    if (wanted.length === 0) return [ok('sandbox.program', `no agent uses a sandbox, and there is none here: ${found.problem}`)];
    const names = wanted.map(({ spec }) => spec.name).join(', ');
    const isNeeded = wanted.some(({ unavailable }) => unavailable === 'fail');
    if (isNeeded)
      return [problem('sandbox.program', `no sandbox: ${found.problem}`, `these agents do not start without one: ${names}`, found.next)];
    return [warning('sandbox.program', `no sandbox: ${found.problem}`, `these agents run without one: ${names}`, found.next)];
  }
  if (found.kind === 'seatbelt')
    return [warning('sandbox.program', `${found.program}`, 'the profile for macOS is generated and untested', 'switchboard help sandbox')];
  const version = spawnSync(found.program, ['--version'], { encoding: 'utf8' }).stdout?.trim() ?? '';
  const bridge = bridgeScript();
  const { acts, output } = await attackItself(found, bridge);
  const broken = acts.filter(({ isHeld }) => !isHeld).map(({ name }) => name);
  const works =
    acts.length === 0
      ? problem(
          'sandbox.works',
          'the sandbox does not start with the flags that agents get',
          summaryLine(output.trim().split('\n')) ?? 'it printed nothing',
          isTemporary(bridge) ? 'install switchboard elsewhere: in a sandbox, the temporary directory is empty' : 'switchboard agents test',
        )
      : broken.length > 0
        ? problem(
            'sandbox.works',
            `the sandbox does not hold: ${broken.join(', ')}`,
            'an agent could do the same',
            'update bubblewrap and the kernel, or bring "wrap"',
          )
        : ok('sandbox.works', `the sandbox holds: ${acts.map(({ name }) => name).join(', ')}`);
  const perAgent = wanted.map(({ spec, level, network }): Finding => {
    const profile = sandbox.profile(spec, [process.cwd()]);
    if ('problem' in profile)
      return problem('sandbox.agent', `${spec.name}: no sandbox in ${process.cwd()}`, profile.problem, profile.next);
    const covers = profile.places.filter(({ kind }) => kind === 'hide' || kind === 'protect').length;
    const gaps = profile.gaps.map((gap) => `\n  not prevented: ${gap}`).join('');
    return ok('sandbox.agent', `${spec.name}: ${level}, network ${network}; ${covers} covers in ${process.cwd()}${gaps}`);
  });
  const declined = agents.flatMap((spec): Finding[] => {
    const { declined: level } = sandbox.containment(spec);
    const why = `the policy prefers the sandbox level "${level}", and the configuration says "sandbox": "off"`;
    return level === undefined ? [] : [warning('sandbox.agent', `${spec.name}: no sandbox`, why, 'remove "sandbox": "off" to use it')];
  });
  const overlay = wanted.some(({ level }) => level === 'review') ? [checkOverlay(stateDir)] : [];
  return [ok('sandbox.program', `${version} (${found.program})`), works, ...overlay, ...perAgent, ...declined];
}
