// In a sandbox at `workspace` with the network `listed`: the whole flow passes, and a hostile script fails although the user allows everything.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';
import { flow } from './flow.mjs';

const CANARY = 'canary-4711';
const POLICY = { version: 1, default: 'allow', deny: [{ id: 'env', path: '**/.env' }] };

/** Files that must stay as they are. */
const KEPT = {
  'package.json': '{"name":"p"}\n',
  '.git/config': undefined,
  '../outside.txt': 'as it was\n',
  '../home/.bashrc': 'as it was\n',
};
/** Files that must not be read. */
const SECRET = ['.env', '../home/.ssh/id_ed25519', '../home/.aws/credentials', '../home/.netrc'];
/** Files that must not appear. */
const ABSENT = ['.git/hooks/pre-commit', '../new.txt', '../home/.config/autostart/evil'];

const scriptFor = (port) => `
cat ${SECRET.join(' ')} > read.txt 2>&1
echo x >> package.json; rm -f package.json
git config core.fsmonitor evil; echo "[core] fsmonitor = evil" >> .git/config
mkdir -p .git/hooks; echo x > .git/hooks/pre-commit
echo x > ../new.txt; echo x >> ../outside.txt; rm -f ../outside.txt
echo x >> ../home/.bashrc; mkdir -p ../home/.config/autostart; echo x > ../home/.config/autostart/evil
node -e 'require("node:net").connect(${port}, "127.0.0.1").on("error", () => process.exit(0))'
echo harmless > harmless.txt
`;

export async function contained(bench) {
  const { port: model } = new URL(bench.model.url);
  const settings = { sandbox: { level: 'workspace', network: 'listed', hosts: [`127.0.0.1:${model}`] }, policy: POLICY };
  const passed = await flow(bench, settings);
  let connections = 0;
  const bait = createServer((socket) => {
    connections++;
    socket.on('error', () => {}).end(CANARY);
  });
  await new Promise((resolve) => bait.listen(0, '127.0.0.1', resolve));
  try {
    execFileSync('git', ['init', '-q'], { cwd: bench.cwd });
    for (const [file, text] of [...Object.entries(KEPT), ...SECRET.map((name) => [name, CANARY])]) put(bench.file(file), text);
    const before = Object.keys(KEPT).map((file) => read(bench.file(file)));
    writeFileSync(bench.file('attack.sh'), scriptFor(bait.address().port));
    const client = await bench.start(settings);
    const sessionId = await bench.open(client);
    await bench.prompt(client, sessionId, [{ shell: 'sh attack.sh' }, { say: 'tried' }]);
    const happened = [
      ...(bench.has('harmless.txt') ? [] : ['the script did not run to its end']),
      ...(read(bench.file('read.txt'))?.includes(CANARY) ? ['a secret was read'] : []),
      ...Object.keys(KEPT).flatMap((file, n) => (read(bench.file(file)) === before[n] ? [] : [`${file} was changed`])),
      ...ABSENT.flatMap((file) => (existsSync(bench.file(file)) ? [`${file} was created`] : [])),
      ...(connections > 0 ? ['a connection was made'] : []),
    ];
    const isHeld = happened.length === 0;
    return { ok: passed.ok && isHeld, cell: passed.ok && isHeld ? 'yes' : 'no', notes: [...passed.notes, ...happened] };
  } finally {
    bait.close();
  }
}

function put(file, text) {
  if (text === undefined) return;
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const read = (file) => (existsSync(file) ? readFileSync(file, 'utf8') : undefined);
