// `switchboard serve`: the web console, which is an ordinary client of the proxy in this process, and network clients.

import { spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { type Broker, createBroker } from '../../bus/broker.ts';
import type { Console } from '../../console/console.ts';
import { createFrames, type Frames } from '../../console/state/frames.ts';
import { isAnyAddress, listen } from '../../listener/listener.ts';
import { createBodyBudget } from '../../listener/respond.ts';
import { here } from '../../platform/platform.ts';
import { makeDirectory } from '../../private-files.ts';
import type { AcpOptions } from '../acp.ts';
import { CommandFailure } from '../failure.ts';
import { type InProcess, startInProcess } from '../in-process-proxy.ts';
import { notice } from '../output.ts';
import { surroundings } from '../resolve-config.ts';
import { claimDaemon } from '../running-daemon/daemon-file.ts';
import { type EndpointTable, endpointTable } from './endpoints/endpoint-table.ts';
import { mcpEndpoint } from './endpoints/mcp.ts';
import { writeLinkFile } from './link-file.ts';
import { type ListenFlags, type ListenPlan, listenPlan } from './listen-options.ts';
import { addressesOf, type NetworkClients, networkClients, openGate } from './network-clients.ts';
import { cannotListen, openHere } from './open-console.ts';
import { type DefaultPolicy, defaultPolicy } from './policy-store.ts';

// Opens a link in the user's browser, without a shell.

/** The link is in a file in `dir`; returns a function that removes the file. */
export function openBrowser(link: string, dir: string, failed: () => void): () => void {
  const file = path.join(dir, `open-console-${process.pid}.html`);
  try {
    makeDirectory(dir);
    writeLinkFile(file, link);
    const child = spawn(here.opener, [pathToFileURL(file).href], { stdio: 'ignore', detached: true });
    child.once('error', failed);
    child.unref();
  } catch {
    failed();
  }
  return () => rmSync(file, { force: true });
}

export type ServeOptions = AcpOptions &
  ListenFlags & {
    readonly open?: true;
    readonly json?: true;
    /** False: no web console. */
    readonly console?: boolean;
    readonly drainSeconds?: string;
    /** Also serves the example page of the web app's service. */
    readonly example?: true;
    /** Started by `serve --background`: the only daemon of its user. */
    readonly inBackground?: true;
  };

/** Serves until a signal or the page ends it; returns the exit code. */
export async function serve({ console: hasConsole = true, ...options }: ServeOptions): Promise<number> {
  const { port, at } = listenPlan(options);
  const drainMs = drainMsOf(options.drainSeconds);
  const { stateDir } = surroundings(options);
  let frames: Frames | undefined;
  const otherwise = defaultPolicy(options);
  let broker: Broker | undefined;
  const inside = await startInProcess(options, {
    policyIfNone: otherwise.source(),
    queuesPrompts: true,
    servesMetrics: true,
    localBus() {
      broker = createBroker(Date.now);
      return broker.connect();
    },
    extraObserver(secrets) {
      frames = createFrames(secrets, path.join(stateDir, 'frames'));
      return frames.observer;
    },
  });
  try {
    let hosts: ReadonlySet<string> = new Set();
    /** A link works once. */
    let renewLink = () => {};
    const scheme = at.tls ? 'https' : 'http';
    const ownOrigins = () => (options.example ? [...hosts].map((host) => `${scheme}://${host}`) : []);
    const own = () => ({ hosts, origins: new Set(ownOrigins()), takesAddresses: isAnyAddress(at.host) });
    const gate = openGate(inside, () => addressesOf(inside.config, own()));
    const bodyLimits = createBodyBudget(inside.config.limits.maxFrameBytes);
    const clients = networkClients(inside, gate, bodyLimits);
    const mcp = mcpEndpoint({ ...inside, gate, connect: clients.connect, bodyLimits });
    const { examplePage, webAppEndpoint } = await import('./endpoints/web-app.ts');
    const webApp = webAppEndpoint(inside, gate, clients, bodyLimits);
    const example = options.example && examplePage(() => ({ ...addressesOf(inside.config, own()), origins: new Set(ownOrigins()) }));
    const bus = broker && (await import('./endpoints/bus.ts')).busEndpoint(broker, gate);
    const endpoints = endpointTable({ gate, clients, bodyLimits, mcp, webApp, example, bus, telemetry: inside.telemetry });
    inside.telemetry?.clientsAre(() => clients.list().length);
    const endClients = async () => {
      mcp.close();
      bus?.close();
      await Promise.all([clients.close(), webApp.close()]);
    };
    const opened = hasConsole
      ? await openConsole(inside, options, {
          entered: () => renewLink(),
          port,
          at,
          endpoints,
          clients,
          otherwise,
          frames: frames as Frames,
        })
      : await openWithoutConsole({ port, at, endpoints });
    const isUsualPort = opened.port === (at.tls ? 443 : 80); // which clients leave out
    hosts = new Set(at.names.map((name) => (isUsualPort ? name : `${name}:${opened.port}`).toLowerCase()));
    const signalled = onSignals(clients.kill, async () => {
      opened.stopAccepting();
      await idle([clients, mcp, webApp], drainMs);
      clients.served.cancelTurns();
      await idle([clients, mcp], CANCEL_MS);
      await endClients();
      await opened.stop();
    });
    const isAsking =
      options.policyMode !== 'observe' &&
      inside.config.policies.some(({ policy }) => policy === otherwise.shipped || policy === otherwise.own);
    const address = `${scheme}://${at.names[0]}:${opened.port}`;
    const consoleFile = options.inBackground && opened.link ? path.join(stateDir, `console-${process.pid}.html`) : undefined;
    renewLink = () => void (consoleFile !== undefined && writeLinkFile(consoleFile, opened.link?.() ?? ''));
    renewLink();
    const release = claimDaemon(stateDir, { address, consoleFile });
    if (!release && options.inBackground) throw new CommandFailure(1, 'a daemon runs already', 'run: switchboard serve status');
    const tidyUp = announce(opened, {
      address,
      openFrom: options.open ? stateDir : undefined,
      isAsking,
      isJson: options.json === true,
      hasExample: options.example === true,
    });
    await opened.closed;
    await endClients();
    await opened.stop();
    tidyUp();
    release?.();
    if (consoleFile !== undefined) rmSync(consoleFile, { force: true });
    await inside.close();
    return signalled() ?? 0;
  } finally {
    await inside.close();
  }
}

type Opened = Pick<Console, 'port' | 'closed' | 'stop' | 'stopAccepting'> & { readonly link?: Console['link'] };
type Where = ListenPlan & { readonly endpoints: EndpointTable };
type ConsoleParts = Where & {
  readonly otherwise: DefaultPolicy;
  readonly clients: NetworkClients;
  readonly frames: Frames;
  readonly entered: () => void;
};

function openConsole(inside: InProcess, options: AcpOptions, where: ConsoleParts): Promise<Console> {
  const connected = where.clients.connectConsole();
  const { connection, settle } = connected;
  return openHere({ ...inside, ...where, connection, settle, flags: options, connect: () => connected });
}

async function openWithoutConsole({ port, at, endpoints }: Where): Promise<Opened> {
  try {
    const listener = await listen({ host: at.host, port, tls: at.tls, endpoints: new Map(endpoints) });
    let end = () => {};
    const closed = new Promise<void>((resolve) => {
      end = resolve;
    });
    return {
      port: listener.port,
      closed,
      stopAccepting: listener.stopAccepting,
      async stop() {
        listener.close();
        end();
      },
    };
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw cannotListen(at.host, port, code, message);
  }
}

/** Turns that run get this long to end, and their clients to receive the answers. */
async function idle(services: readonly { isBusy(): boolean }[], drainMs: number): Promise<void> {
  const isBusy = () => services.some((one) => one.isBusy());
  for (const deadline = performance.now() + drainMs; isBusy() && performance.now() < deadline; ) await delay(LOOK_EVERY_MS);
}

const LOOK_EVERY_MS = 50;
/** How long agents may take to end a turn that the shutdown has cancelled. */
const CANCEL_MS = 1000;

function drainMsOf(seconds: string | undefined): number {
  const ms = Number(seconds ?? 0) * 1000;
  if (Number.isFinite(ms) && ms >= 0 && seconds !== '') return ms;
  throw new CommandFailure(2, `invalid time "${seconds}"`, 'use a number of seconds, such as --drain-seconds 30');
}

type Announcement = {
  readonly address: string;
  readonly openFrom: string | undefined;
  readonly isAsking: boolean;
  readonly isJson: boolean;
  readonly hasExample: boolean;
};

/** The link is a credential, so it is shown to the user and never logged. */
function announce(opened: Opened, { address, openFrom, isAsking, isJson, hasExample }: Announcement): () => void {
  const say = (text: string) => void process.stdout.write(text);
  const { link } = opened;
  if (isJson) {
    say(`${JSON.stringify({ listening: address, ...(link && { console: link() }) })}\n`);
    return () => {};
  }
  const paths = `ACP clients connect to ${address.replace(/^http/, 'ws')}/acp, MCP clients to ${address}/mcp`;
  const example = hasExample ? `The example page, which asks for such a token, is at ${address}/example\n` : '';
  const clients = `${paths}, with a token: switchboard token create NAME --role client\n${example}`;
  if (!link) {
    say(clients);
    return () => {};
  }
  const first = link();
  say(`The console is at\n\n  ${first}\n\nThe link works once. Press Ctrl-C to stop the console and its agents.\n${clients}`);
  if (isAsking) say('No policy is configured, so the console asks before an agent changes or runs anything.\n');
  const failed = () => notice('could not start a browser; open the link yourself');
  const tidyUp = openFrom === undefined ? () => {} : openBrowser(first, openFrom, failed);
  if (process.stdin.isTTY !== true) return tidyUp;
  say('Press Enter for a new link.\n');
  const lines = createInterface({ input: process.stdin });
  lines.on('line', () => say(`  ${link()}\n`));
  void opened.closed.then(() => lines.close());
  return tidyUp;
}

/** The first signal shuts down cleanly, the second at once. The returned function gives the exit code of the signal, if there was one. */
function onSignals(kill: () => void, end: () => Promise<void>): () => number | undefined {
  let code: number | undefined;
  for (const [signal, number] of Object.entries({ SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }))
    process.on(signal, () => {
      if (code !== undefined) {
        kill();
        process.exit(code);
      }
      code = 128 + number;
      void end();
    });
  return () => code;
}
