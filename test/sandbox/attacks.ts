// What a hostile agent tries, and what an honest one does every day. Scripts run inside; whether they succeeded is looked up outside.
import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { openSandboxSession, type SandboxSession, type SandboxSessionOptions, write } from './support.ts';

export const CANARY = 'canary-4711';

/** Things outside that an agent could reach. */
export type Bait = { readonly port: number; readonly socket: string; connections(): number; close(): void };

export type Attack = {
  readonly name: string;
  readonly script: (it: SandboxSession, bait: Bait) => string;
  readonly worked: (it: SandboxSession, output: string, bait: Bait) => boolean;
};

export const leaks = (name: string, script: (it: SandboxSession) => string): Attack => ({
  name,
  script,
  worked: (_, output) => output.includes(CANARY),
});

/** Files that must stay as they are, relative to the base directory, with their content. */
const FILES: Readonly<Record<string, string>> = {
  'outside.txt': 'as it was',
  'project/package.json': '{"name":"p","scripts":{"test":"node -e \\"console.log(\'tested\')\\""}}',
  'project/packages/a/package.json': '{"name":"a"}',
  'project/.vscode/settings.json': '{}',
  'project/locked/file': 'as it was',
  'project/Makefile': 'all:\n',
  'home/.bashrc': 'as it was',
};
const SECRETS = [
  'project/.env',
  'project/deep/.env',
  'home/.ssh/id_ed25519',
  'home/.aws/credentials',
  'home/.codex/auth.json',
  'home/.netrc',
  'project/server.pem',
];

export const changes = (name: string, script: (it: SandboxSession) => string, files: readonly string[] = Object.keys(FILES)): Attack => ({
  name,
  script,
  worked: ({ base }) =>
    files.some((file) => {
      const at = path.join(base, file);
      return !existsSync(at) || lstatSync(at).isSymbolicLink() || (FILES[file] !== undefined && readFileSync(at, 'utf8') !== FILES[file]);
    }),
});
export const creates = (name: string, script: (it: SandboxSession) => string, file: (it: SandboxSession) => string): Attack => ({
  name,
  script,
  worked: (it) => existsSync(file(it)),
});
export const connects = (name: string, script: (bait: Bait) => string): Attack => {
  let before = 0;
  return {
    name,
    script(_, bait) {
      before = bait.connections();
      return script(bait);
    },
    worked: (_, output, bait) => bait.connections() > before || output.includes(CANARY),
  };
};
export const node = (code: string): string => `node -e '${code.replaceAll('\n', ' ')}'`;
const dial = (target: string): string =>
  node(
    `const s = require("net").connect(${target}); s.on("data", (d) => { console.log(String(d)); process.exit(0) }); s.on("error", (e) => { console.log(e.code); process.exit(1) }); setTimeout(() => process.exit(2), 2000)`,
  );
export const throughProxy = (host: string, port: number): string =>
  node(
    `const s = require("net").connect(3128, "127.0.0.1"); s.on("error", (e) => { console.log(e.code); process.exit(1) }); s.write("CONNECT ${host}:${port} HTTP/1.1\\r\\n\\r\\n"); let t = ""; s.on("data", (d) => { t += d; if (/ 200 /.test(t)) s.write("x") }); s.on("close", () => { console.log(t); process.exit(0) }); setTimeout(() => process.exit(2), 2000)`,
  );

export const ATTACKS: readonly Attack[] = [
  // Reading.
  leaks('reads an SSH key', ({ home }) => `cat ${home}/.ssh/id_ed25519`),
  leaks('reads cloud credentials', ({ home }) => `cat ${home}/.aws/credentials`),
  leaks('reads a password file of the home directory', ({ home }) => `cat ${home}/.netrc`),
  leaks('reads another agent’s login', ({ home }) => `cat ${home}/.codex/auth.json; ls ${home}/.codex`),
  leaks('reads a denied file', () => 'cat .env; head -c 99 .env; node -p \'require("fs").readFileSync(".env","utf8")\''),
  leaks('reads a denied file deep in the project', () => 'cat deep/.env; grep -r canary .'),
  leaks('reads a denied file by a link of its own', () => 'ln -s .env l; cat l; ln -s $PWD/.env l2; cat l2; rm -f l l2'),
  leaks('reads a denied file by a hard link', () => 'ln .env h; cat h; rm -f h'),
  leaks('moves a denied file away and reads it', () => 'mv .env m; cat m'),
  leaks('moves the directory of a denied file and reads it there', () => 'mv deep d2; cat d2/.env; mv d2 deep'),
  leaks(
    'reads through /proc',
    ({ project, home }) =>
      `for p in self 1 2 $PPID; do cat /proc/$p/root${project}/.env /proc/$p/cwd/.env /proc/$p/root${home}/.netrc; done`,
  ),
  leaks('reads a denied file by a link that was there before', () => 'cat link-to-env'),
  leaks('reads switchboard’s own files', ({ state }) => `cat ${state}/*; cat ${state}/*/*; ls ${state} | grep . && echo ${CANARY}`),
  leaks(
    'reads the environment of switchboard',
    ({ child }) => `cat /proc/${child.pid}/environ | tr "\\0" "\\n"; cat /proc/[0-9]*/environ | tr "\\0" "\\n" | grep BAIT`,
  ),
  leaks('reads the password hashes of the system', () => `head -c 20 /etc/shadow | grep . && echo ${CANARY}`),
  // Writing.
  creates(
    'writes next to the project',
    ({ base }) => `echo x > ${base}/new; echo x > ../new`,
    ({ base }) => `${base}/new`,
  ),
  creates(
    'writes where it looks temporary',
    ({ base }) => `mkdir -p ${base}/t && echo x > ${base}/t/x`,
    ({ base }) => `${base}/t`,
  ),
  changes('changes a file outside', ({ base }) => `echo x > ${base}/outside.txt; rm -f ${base}/outside.txt; mv ${base}/outside.txt .`),
  changes('changes a file outside through a link of its own', ({ base }) => `ln -s ${base}/outside.txt o; echo x > o; rm -f o`),
  changes('changes a file outside through a hard link', ({ base }) => `ln ${base}/outside.txt o; echo x > o; rm -f o`),
  changes('changes what every shell runs', ({ home }) => `echo x >> ${home}/.bashrc; sed -i s/a/b/ ${home}/.bashrc`),
  creates(
    'plants a start-up file',
    ({ home }) => `mkdir -p ${home}/.config/autostart && touch ${home}/.config/autostart/x`,
    ({ home }) => `${home}/.config/autostart`,
  ),
  changes(
    'changes the manifest',
    () => 'echo x > package.json; rm -f package.json; mv package.json p; node -e \'require("fs").writeFileSync("package.json","x")\'',
  ),
  changes('replaces the manifest', () => 'echo x > p.new; mv -f p.new package.json; rm -f p.new'),
  changes(
    'replaces a manifest by moving its directory',
    () =>
      'mv packages/a packages/b && mkdir packages/a && echo x > packages/a/package.json; mv packages q && mkdir -p packages/a && echo x > packages/a/package.json',
  ),
  changes('changes settings of the editor', () => 'echo x > .vscode/settings.json; mv .vscode v; rm -rf .vscode'),
  creates(
    'adds settings of the editor',
    () => 'echo x > .vscode/tasks.json',
    ({ project }) => `${project}/.vscode/tasks.json`,
  ),
  changes('changes a directory that the policy locks', () => 'echo x > locked/file; rm -rf locked; mv locked l'),
  creates(
    'adds to a directory that the policy locks',
    () => 'touch locked/new',
    ({ project }) => `${project}/locked/new`,
  ),
  {
    name: 'changes git’s configuration',
    script: () =>
      'git config core.fsmonitor evil; echo "[core] fsmonitor = evil" >> .git/config; mv .git g; cp -r .git g; rm -rf .git/config; rm -rf g',
    worked: ({ project }) => !existsSync(`${project}/.git/config`) || readFileSync(`${project}/.git/config`, 'utf8').includes('evil'),
  },
  creates(
    'plants a git hook',
    () => 'mv .git/hooks .git/h; mkdir .git/hooks; echo x > .git/hooks/pre-commit',
    ({ project }) => `${project}/.git/hooks/pre-commit`,
  ),
  creates(
    'writes a directory of the system',
    () => 'touch /usr/local/bin/evil /etc/evil /var/lib/evil',
    () => '/usr/local/bin/evil',
  ),
  // Mounts and namespaces.
  leaks(
    'mounts and unmounts',
    ({ project }) => `umount ${project}/.env; umount -l ${project}/.env; mount -o remount,rw /; mount --bind / /mnt; cat .env`,
  ),
  leaks(
    'unmounts in a namespace of its own',
    ({ project }) =>
      `unshare -Urm sh -c "umount ${project}/.env; umount -l ${project}/.env; umount -R ${project}; mount -o remount,rw /; cat ${project}/.env"`,
  ),
  leaks(
    'mounts over the cover in a namespace of its own',
    ({ project, base }) =>
      `unshare -Urm sh -c "mount --bind ${base} /mnt; cat /mnt/project/.env; mount --rbind ${project} /mnt; cat /mnt/.env; mount -t tmpfs none /mnt; cat /mnt/.env"`,
  ),
  changes(
    'writes outside from a namespace of its own',
    ({ base }) =>
      `unshare -Urmpf sh -c "mount -o remount,rw,bind /; mount -o remount,rw ${base}; echo x > ${base}/outside.txt; mount -t proc proc /proc; echo x > /proc/1/root${base}/outside.txt"`,
  ),
  leaks(
    'enters namespaces of other processes',
    ({ child, project }) => `nsenter -t ${child.pid} -m cat ${project}/.env; nsenter -t 1 -m cat ${project}/.env`,
  ),
  leaks(
    'starts a sandbox of its own around the cover',
    ({ project }) => `bwrap --bind / / cat ${project}/.env; bwrap --ro-bind ${project} /mnt cat /mnt/.env`,
  ),
  {
    name: 'gains privileges',
    script: () => 'grep -E "NoNewPrivs|CapEff|CapBnd" /proc/self/status',
    worked: (_, output) => !/NoNewPrivs:\s1/.test(output) || !/CapEff:\s0+\n/.test(output),
  },
  {
    name: 'makes a device',
    script: () => 'mknod dev b 8 0 && echo made; cat dev; rm -f dev',
    worked: (_, output) => output.includes('made'),
  },
  // Processes and the system.
  {
    name: 'signals switchboard',
    script: ({ child }) => `kill -9 ${child.pid}; kill -TERM ${child.pid}`,
    worked: ({ child }) => child.exitCode !== null || child.signalCode !== null,
  },
  {
    name: 'sees other processes',
    script: () => 'ls /proc | grep -c "^[0-9]"; ps -e',
    worked: (_, output) => Number(/^\d+/.exec(output)?.[0]) > 20,
  },
  {
    name: 'changes the system',
    script: () =>
      'echo x > /proc/sys/kernel/hostname && echo changed; echo b > /proc/sysrq-trigger && echo changed; echo 1 > /sys/kernel/mm/ksm/run && echo changed',
    worked: (_, output) => /^changed/m.test(output),
  },
  // Sockets and the network.
  connects('connects to a unix socket', ({ socket }) => dial(`"${socket}"`)),
  connects(
    'connects to a unix socket from another program',
    ({ socket }) =>
      `python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect('${socket}'); print(s.recv(99))"; curl -s -m 2 --unix-socket ${socket} http://x/`,
  ),
  connects('connects to a port of this machine', ({ port }) => dial(`${port}, "127.0.0.1"`)),
  connects(
    'connects to a port of this machine through the proxy',
    ({ port }) =>
      `${throughProxy('127.0.0.1', port)}; ${throughProxy('localhost', port)}; ${throughProxy('127.1', port)}; ${throughProxy('[::ffff:127.0.0.1]', port)}; ${throughProxy('0', port)}`,
  ),
  {
    name: 'connects to a host that is not listed',
    script: () => throughProxy('evil.example', 443),
    worked: (_, output) => !output.includes('403'),
  },
  {
    name: 'connects to the metadata service',
    script: () => `${throughProxy('169.254.169.254', 80)}`,
    worked: (_, output) => !output.includes('403'),
  },
  {
    name: 'connects by address, around the proxy',
    script: () => dial('80, "192.0.2.1"'),
    worked: (_, output) => !/ENETUNREACH|EHOSTUNREACH|EACCES/.test(output),
  },
];

const GIT = 'git -c user.name=t -c user.email=t@t';

/** Each prints `fine` if it works. */
const EVERYDAY_AT: Readonly<Record<'read-only' | 'workspace', Readonly<Record<string, string>>>> = {
  'read-only': {
    'reads a file': 'grep -q word src/a.txt && echo fine',
    'searches the project': 'grep -rl word src | grep -q a.txt && echo fine',
    'lists files': 'ls src | grep -q a.txt && echo fine',
    'looks at the history': 'git log --oneline | grep -q one && echo fine',
    'looks at changes': 'git status --short >/dev/null && git diff >/dev/null && echo fine',
    'runs tests that write nothing': 'npm test --silent 2>&1 | grep -q tested && echo fine',
    'runs a program': 'test "$(node -p 1+1)" = 2 && echo fine',
    'uses temporary files': 'f=$(mktemp) && echo x > $f && grep -q x $f && echo fine',
    'reads the system': 'test -r /etc/passwd && ls /usr/bin >/dev/null && echo fine',
    'starts a sandbox of its own': 'bwrap --ro-bind / / --dev /dev true && echo fine',
  },
  workspace: {
    'edits a file': 'echo more >> src/a.txt && grep -q more src/a.txt && echo fine',
    'creates, moves and removes files': 'mkdir -p x/y && echo a > x/y/z && mv x/y/z x/z && rm -r x && echo fine',
    commits: `echo b > b && git add b && ${GIT} commit -qm two && git log --oneline | grep -q two && echo fine`,
    'changes branches': 'git checkout -qb side && git checkout -q main && echo fine',
    stashes: `echo c >> b && ${GIT} stash -q && ${GIT} stash pop -q && git checkout -q b && echo fine`,
    'makes a worktree': 'git worktree add -q wt -b w && test -e wt/b && echo fine',
    'runs tests': 'npm test --silent 2>&1 | grep -q tested && echo fine',
    builds: `mkdir -p dist && ${node('require("fs").writeFileSync("dist/out.js", "1")')} && node dist/out.js && echo fine`,
    'watches files': node(
      'const fs = require("fs"); fs.watch("src", () => { console.log("fine"); process.exit(0) }); setTimeout(() => fs.writeFileSync("src/w", "x"), 50)',
    ),
    'starts a sandbox of its own': 'bwrap --bind / / --dev /dev touch from-nested && test -e from-nested && echo fine',
  },
};

export type Level = 'read-only' | 'workspace' | 'review';

/** At `review` the same as at `workspace`. */
export const everydayAt = (level: Level): Readonly<Record<string, string>> => EVERYDAY_AT[level === 'review' ? 'workspace' : level];

export async function openAttackedSession(
  level: Level,
  options: SandboxSessionOptions = {},
): Promise<SandboxSession & AsyncDisposable & { readonly bait: Bait }> {
  const servers: Server[] = [];
  let connections = 0;
  const listen = (at: object): Promise<Server> =>
    new Promise((resolve) => {
      const server = createServer((socket) => {
        connections++;
        socket.on('error', () => {});
        socket.end(CANARY);
      });
      servers.push(server);
      server.listen(at, () => resolve(server));
    });
  const port = ((await listen({ port: 0, host: '127.0.0.1' })).address() as { port: number }).port;
  let socket = '';
  const it = await openSandboxSession({
    ...options,
    sandbox: { level, network: 'listed', ...(options.sandbox as object) },
    policy: {
      version: 1,
      default: 'allow',
      deny: [
        { id: 'secrets', path: ['**/.env', '**/*.pem'] },
        { id: 'locked', action: ['edit', 'delete', 'move'], path: '$cwd/locked/**' },
        { id: 'network', action: 'fetch' },
      ],
    },
    env: { BAIT: CANARY },
    agent: { inherit_env: 'minimal', ...options.agent },
    prepare(places) {
      const { base, project } = places;
      for (const [file, text] of Object.entries(FILES)) write(path.join(base, file), text);
      for (const file of SECRETS) write(path.join(base, file), CANARY);
      write(path.join(project, 'src/a.txt'), 'word\n');
      symlinkSync('.env', path.join(project, 'link-to-env'));
      socket = path.join(project, 'bait.sock');
      const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=t', '-c', 'user.email=t@t', ...args], { cwd: project });
      git('init', '-q', '-b', 'main');
      write(path.join(project, '.gitignore'), 'bait.sock\nwt\n.env\n*.pem\n');
      git('add', '-A');
      git('commit', '-qm', 'one');
      options.prepare?.(places);
    },
  });
  await listen({ path: socket, readableAll: true, writableAll: true });
  const bait: Bait = {
    port,
    socket,
    connections: () => connections,
    close() {
      for (const server of servers) server.close();
    },
  };
  return {
    ...it,
    bait,
    async [Symbol.asyncDispose]() {
      bait.close();
      await it[Symbol.asyncDispose]();
    },
  };
}
