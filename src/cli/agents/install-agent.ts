// `agents add --install`: the package of an agent into a folder of our own, so that its start needs neither npx nor network.
import { once } from 'node:events';
import spawn from 'cross-spawn';
import { makeDirectory } from '../../private-files.ts';
import type { CatalogueAgent } from '../../setup/catalogue.ts';
import { type Here, installFolder, resolveStart } from '../../setup/start-command.ts';
import { CommandFailure } from '../failure.ts';
import { startUnderSignals } from '../interrupts.ts';
import { notice } from '../notice.ts';

export async function installAgent(agent: CatalogueAgent, here: Here): Promise<void> {
  const { npx } = agent.distribution;
  if (!npx) throw new CommandFailure(2, `"${agent.id}" is not an npm package, and only those can be installed from here`);
  const folder = installFolder(agent, here);
  const { command, args } = resolveStart(agent, here);
  if ([command, ...args].some((word) => word.startsWith(folder))) return; // it is there
  makeDirectory(folder);
  notice(`installing ${npx.package} into ${folder}`);
  const words = ['install', '--prefix', folder, '--no-audit', '--no-fund', '--loglevel=error', npx.package];
  // What npm says goes to stderr: stdout may be read by a program.
  const { child, ...signals } = startUnderSignals(() =>
    spawn('npm', words, { stdio: ['ignore', process.stderr, process.stderr], cwd: folder, env: here.env }),
  );
  const how = await once(child, 'exit').then(
    ([code]) => (code === 0 ? undefined : `npm ended with ${code}`),
    (error: NodeJS.ErrnoException) => (error.code === 'ENOENT' ? 'npm was not found' : `npm could not be started (${error.code})`),
  );
  signals.stop();
  signals.check();
  if (how !== undefined)
    throw new CommandFailure(1, `${npx.package} could not be installed: ${how}`, 'without --install it is started by npx');
}
