// A whole bus in network namespaces, made as docs/scale-out.md says: three NATS servers with the files of `bus init`, hosts, and an edge.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createNetwork, type Machine } from './namespaces.ts';

export type Program = {
  readonly machine: Machine;
  /** What it has written to stderr. */
  messages(): string;
  /** Resolves when it has written this; `after`: past this many characters. */
  says(text: string, after?: number): Promise<void>;
};

export type BusNetwork = {
  readonly dir: string;
  readonly servers: readonly Machine[];
  readonly hosts: readonly Machine[];
  readonly edge: Machine;
  startServer(server: Machine): Promise<void>;
  /** Tries again while the name of a killed host is not free, and while the servers elect leaders. */
  startHost(host: Machine): Promise<Program>;
  /** `switchboard acp` on the machine of the edge. */
  startEdge(): ChildProcess;
  /** Runs a command of the switchboard on the machine of the edge, with the rights of this member of the tenant. */
  command(member: string, ...words: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>;
  /** Resolves when the servers decide again: after the loss or the return of one, they elect their leaders first. */
  decides(): Promise<void>;
  /** What agents have noted: how often each prompt ran, and how often its permission request was allowed. */
  noted(what: 'runs' | 'allowed'): ReadonlyMap<string, number>;
  remove(): void;
};

export async function startBusNetwork({
  root,
  hosts: names,
}: {
  readonly root: string;
  readonly hosts: readonly string[];
}): Promise<BusNetwork> {
  const switchboard = [process.execPath, path.join(root, 'bin/switchboard.js')] as const;
  const dir = mkdtempSync(path.join(os.tmpdir(), 'switchboard-network-'));
  const inside = (...parts: readonly string[]) => path.join(dir, ...parts);
  for (const name of ['work', 'home']) mkdirSync(inside(name));
  const notes = inside('notes');
  writeFileSync(notes, '');
  const network = createNetwork(['n1', 'n2', 'n3', ...names, 'edge']);
  const at = (name: string) => network.machines.get(name) as Machine;
  const [servers, hosts, edge] = [['n1', 'n2', 'n3'].map(at), names.map(at), at('edge')];

  function run(machine: Machine, words: readonly string[], cwd = inside('work')): ChildProcess {
    const [program, ...args] = machine.command(...words);
    const env = {
      ...process.env,
      HOME: inside('home'),
      XDG_CONFIG_HOME: '',
      XDG_STATE_HOME: '',
      SWITCHBOARD_HOME: inside(`state-${machine.name}`),
    };
    return spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
  }
  const settings = (member: string) => inside('bus/tenants/default', member, 'bus.json');
  async function startHostOnce(machine: Machine): Promise<Program> {
    const { name } = machine;
    const config = inside(`${name}.json`);
    const agent = { command: process.execPath, args: [path.join(root, 'test/fixtures/counts-prompts.mjs'), name, notes] };
    writeFileSync(config, JSON.stringify({ agent_servers: { counts: agent }, allow_cwd: [dir], host_tools: { enabled: false } }));
    const child = run(machine, [...switchboard, 'host', '--config', config, '--bus', settings(`host-${name}`), '--json']);
    const { messages, says } = listening(child);
    const [line] = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null || !String(line).startsWith('{"host"'))
      throw new Error(`host ${name} did not start: ${line} ${messages()}`);
    return { machine, messages, says };
  }
  const self: BusNetwork = {
    dir,
    servers,
    hosts,
    edge,
    async startServer(server) {
      await listening(run(server, ['nats-server', '--config', 'nats.conf'], inside('bus/servers', server.name))).says('Server is ready');
    },
    async startHost(machine) {
      for (const deadline = performance.now() + 2 * ELECTIONS_MS; ; )
        try {
          return await startHostOnce(machine);
        } catch (error) {
          if (performance.now() > deadline) throw error;
        }
    },
    startEdge() {
      const config = inside('edge.json');
      writeFileSync(config, JSON.stringify({ host_tools: { enabled: false } }));
      return run(edge, [...switchboard, 'acp', '--config', config, '--bus', settings('edge-alice')]);
    },
    async command(member, ...words) {
      const child = run(edge, [...switchboard, ...words, '--bus', settings(member)]);
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream?.on('data', (bytes) => {
          output += bytes;
        });
      const [code] = await once(child, 'close');
      return { code, output };
    },
    async decides() {
      await untilDecided(() => self.command('control', 'host', 'list'));
    },
    noted(what) {
      const counts = new Map<string, number>();
      for (const line of readFileSync(notes, 'utf8').split('\n')) {
        const [kind, tag = ''] = line.split(' ');
        if (kind === what) counts.set(tag, (counts.get(tag) ?? 0) + 1);
      }
      return counts;
    },
    remove() {
      network.remove();
      rmSync(dir, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
    },
  };
  try {
    const repeated = (flag: string, values: readonly string[]) => values.flatMap((value) => [flag, value]);
    const members = [
      ...repeated(
        '--server',
        servers.map(({ address }) => address),
      ),
      ...repeated('--host', names),
      '--edge',
      'alice',
    ];
    execFileSync(switchboard[0], [switchboard[1], 'bus', 'init', inside('bus'), ...members], {
      env: { ...process.env, SWITCHBOARD_HOME: inside('state') },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    await Promise.all(servers.map(self.startServer));
    await untilDecided(() => self.command('admin', 'bus', 'create'));
    return self;
  } catch (error) {
    self.remove();
    throw error;
  }
}

const ELECTIONS_MS = 40_000;

/** Servers that have just met elect leaders; meanwhile commands fail, some at once. */
async function untilDecided(run: () => ReturnType<BusNetwork['command']>): Promise<void> {
  for (const deadline = performance.now() + ELECTIONS_MS; ; ) {
    const { code, output } = await run();
    if (code === 0) return;
    if (performance.now() > deadline) throw new Error(`the servers do not decide anything: ${output}`);
  }
}

function listening(child: ChildProcess): Pick<Program, 'messages' | 'says'> {
  let text = '';
  const waiting = new Set<() => void>();
  child.stderr?.on('data', (bytes) => {
    text += bytes;
    for (const look of waiting) look();
  });
  return {
    messages: () => text,
    says: (wanted, after = 0) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (!text.slice(after).includes(wanted)) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        child.once('exit', (code) => reject(new Error(`ended with ${code} before it said "${wanted}": ${text.slice(-1000)}`)));
        look();
      }),
  };
}
