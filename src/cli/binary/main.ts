// The entry point of the single executable: `scripts/package-binary.mjs` puts it, with everything that it imports, into a copy of Node.
import { createRequire } from 'node:module';
import { runInThisContext } from 'node:vm';
import { useEmbeddedFiles } from '../../app/package-files.ts';
import { main } from '../entry.ts';
import { unpackTo } from './unpack.ts';

/** The scripts of the npm package, which are files there: see `demoScript`, `bridgeScript` and `ownCommand`. */
const SCRIPTS: Readonly<Record<string, () => Promise<unknown>>> = {
  'mcp-shim': () => import('../../mcp/transports/shim.ts'),
  'demo-agent': () => import('../../demo/main.ts'),
  [process.execPath]: () => import('../../sandbox/network/bridge.ts'),
};

useEmbeddedFiles(unpackTo);
const [, , word = ''] = process.argv;
if (word === '-e') evaluate();
else if (Object.hasOwn(SCRIPTS, word)) {
  // Scripts read their arguments from the third on, as after `node SCRIPT`.
  process.argv.splice(1, 1);
  void SCRIPTS[word]?.();
} else void main(process.argv);

/** `-e CODE`, as Node has it: switchboard runs a few lines of its own in the sandbox this way. */
function evaluate(): void {
  const [, , code = ''] = process.argv.splice(1, 3);
  Object.assign(globalThis, { require: createRequire(process.execPath) });
  runInThisContext(code);
}
