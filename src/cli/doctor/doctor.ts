// `switchboard doctor`: checks the setup of this machine. Every finding says what, why and what to do next.

import { bundledCatalogue } from '../../app/package-files.ts';
import { loadConfig } from '../../config/load.ts';
import { escapeControls } from '../../control-characters.ts';
import { placesHere } from '../../setup/editors.ts';
import { hideByForm } from '../../setup/hide-secrets.ts';
import { type Launch, untilInterrupted, withAgents } from '../agents/temporary-agents.ts';
import { shownCommands } from '../output.ts';
import { printData } from '../policy/output.ts';
import { type ConfigFlags, surroundings } from '../resolve-config.ts';
import { createPaint } from '../run/paint.ts';
import { checkAgents } from './check-agents.ts';
import { checkConfig } from './check-config.ts';
import { checkEditors } from './check-editors.ts';
import { checkInstalled } from './check-installed.ts';
import { checkProgram } from './check-program.ts';
import { checkSandbox } from './check-sandbox.ts';
import { checkState } from './check-state.ts';
import { checkTelemetry } from './check-telemetry.ts';
import type { Finding } from './finding.ts';
import { launchContained, sandboxHere } from './sandbox-here.ts';

export type DoctorFlags = ConfigFlags & { readonly json?: boolean; readonly start?: boolean };

const FOUND_PROBLEMS = 8;

/** Runs all checks. Starts the agents briefly unless `start` is false. The caller handles signals. */
export function findingsOf(flags: DoctorFlags): Promise<readonly Finding[]> {
  return withAgents(surroundings(flags).stateDir, (launch) => check(flags, launch));
}

async function check(flags: DoctorFlags, launch: Launch): Promise<readonly Finding[]> {
  const here = surroundings(flags);
  const { findings: ofConfig, loaded } = await checkConfig(here);
  const sandbox = await sandboxHere(loaded?.config, here.stateDir);
  const start = flags.start === false ? undefined : launchContained(launch, sandbox);
  const all: Finding[] = [
    ...checkProgram(),
    ...ofConfig,
    ...(loaded ? await checkAgents(loaded.config, bundledCatalogue(), here, start) : []),
    ...(loaded ? await checkInstalled(loaded, here.stateDir) : []),
    ...(await checkSandbox(loaded?.config, sandbox, here.stateDir)),
    ...(await checkEditors(placesHere())),
    ...(await checkTelemetry(loaded?.config.telemetry, here.env)),
    ...(loaded?.config.bus ? await (await import('./check-bus.ts')).checkBus(loaded.config.bus) : []),
    ...(await checkState(here.stateDir, here.platform)),
  ];
  return all.map(withoutSecrets);
}

/** Only the bus that `--bus` names; the rest of the machine may not be set up. */
async function checkBusOnly(flags: DoctorFlags): Promise<readonly Finding[]> {
  const [{ checkBus }, { busOf }] = await Promise.all([import('./check-bus.ts'), import('../bus/open-bus.ts')]);
  const loaded = await loadConfig({ ...surroundings(flags), isOnlyShown: true, isOnBus: true });
  const settings = await busOf(flags, loaded.config.bus);
  return (settings ? await checkBus(settings) : []).map(withoutSecrets);
}

export async function doctor(flags: DoctorFlags): Promise<number> {
  const findings =
    flags.bus === undefined
      ? await untilInterrupted(surroundings(flags).stateDir, (launch) => check(flags, launch))
      : await checkBusOnly(flags);
  const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (flags.json) printData({ healthy: problems === 0, problems, warnings, findings });
  else {
    for (const finding of findings) print(finding);
    process.stdout.write(`\n${problems} problem${problems === 1 ? '' : 's'}, ${warnings} warning${warnings === 1 ? '' : 's'}\n`);
  }
  return problems > 0 ? FOUND_PROBLEMS : 0;
}

function print({ status, what, why, next }: Finding): void {
  const paint = createPaint(process.stdout.isTTY === true, process.env);
  const mark = { ok: paint.green('ok      '), warning: paint.yellow('warning '), problem: paint.red('PROBLEM ') }[status];
  const clean = (text: string) => text.split('\n').map(escapeControls);
  const [first = '', ...more] = clean(what);
  const lines = [`${mark} ${first}`, ...more.map((line) => `         ${line}`)];
  if (why !== undefined) lines.push(...clean(why).map((line, index) => `         ${index === 0 ? 'why:  ' : '      '}${line}`));
  if (next !== undefined) lines.push(`         next: ${escapeControls(next)}`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Agents and files may contain secrets. */
function withoutSecrets({ check, status, what, why, next }: Finding): Finding {
  return {
    check,
    status,
    what: hideByForm(what),
    ...(why !== undefined && { why: shownCommands(hideByForm(why)) }),
    ...(next !== undefined && { next: shownCommands(hideByForm(next)) }),
  };
}
