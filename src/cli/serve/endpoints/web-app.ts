// `/ws` on this machine: which agents, directories, sessions and transcripts the pages of a principal have. `/example`: a page that uses it.
import { randomUUID } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import path from 'node:path';
import { inheritedEnvironment } from '../../../agents/environment.ts';
import { packageFile, VERSION } from '../../../app/package-files.ts';
import type { Principal } from '../../../attach/state.ts';
import { type Addresses, refuseForeign } from '../../../listener/access.ts';
import type { Gate } from '../../../listener/gate.ts';
import type { Endpoint } from '../../../listener/listener.ts';
import { type BodyLimits, refuse } from '../../../listener/respond.ts';
import type { RunningProxy } from '../../../proxy/api.ts';
import { learnArgs } from '../../../redaction/learn-secrets.ts';
import { createSessionStore } from '../../../store/sessions/session-store.ts';
import type { Token } from '../../../store/tokens.ts';
import { readTranscript, transcriptsDir } from '../../../store/transcripts/transcript-files.ts';
import type { TranscriptSource } from '../../../store/transcripts/transcript-source.ts';
import { updatesOf } from '../../../store/transcripts/transcript-updates.ts';
import { inProcessPair } from '../../../transports/in-process.ts';
import { createWebApp, type WebApp } from '../../../web-app/endpoint.ts';
import type { PrincipalDeps } from '../../../web-app/principal.ts';
import type { InProcess } from '../../in-process-proxy.ts';
import type { NetworkClients } from '../network-clients.ts';
import { storedSessions } from '../open-console.ts';
import { createHost } from '../workspace.ts';

export function webAppEndpoint(
  { config, stateDir, secrets, owns }: InProcess,
  gate: Gate,
  clients: NetworkClients,
  bodyLimits: (principal: string) => BodyLimits,
): WebApp {
  const { agents, defaultAgent, secretVariables, sandbox, webApp, network } = config;
  const rows = storedSessions(
    stateDir,
    createSessionStore(stateDir, () => {}), // the writer reports problems with the directory
  );
  const environment = () => inheritedEnvironment(process.env, 'all', secretVariables);

  function forPrincipal(token: Token): PrincipalDeps {
    const principal = { name: token.name, role: token.role as Principal['role'] };
    const sources = new Set<TranscriptSource>();
    return {
      choices: { agents, defaultAgent, allowsCommands: webApp.allowsCommands, secretVariables, sandbox },
      allowsTerminals: webApp.allowsTerminals,
      allowsPrograms: network.allowsStdioServers,
      cwd: process.cwd(),
      refusesDirectory(directory) {
        if (!path.isAbsolute(directory) || !isDirectory(directory)) return 'must be the absolute path of a directory';
        return clients.allowsDirectory(principal, directory)
          ? undefined
          : 'is not in allow_cwd; choose a directory that is, or let the owner of the daemon add it';
      },
      openProxy(spec, on) {
        // Before the agent starts, and its stderr is read.
        for (const [name, value] of Object.entries(spec.env)) secrets.add(name, value);
        learnArgs(secrets, spec.args);
        const { client, proxy } = inProcessPair();
        const { connection, transcripts, closed, close } = clients.openProxy(proxy, principal, { only: { spec, ...on } });
        if (transcripts) sources.add(transcripts);
        void closed.then(() => transcripts && sources.delete(transcripts));
        return {
          ...{ ...client, close, runByUser: connection.commandByUser },
          byUser: (sessionId, act, file) => connection.fileActionByUser(sessionId, act, file, 'web-app'),
          problem: () => problemOf(connection),
          transcript: (sessionId) => transcripts?.updates(sessionId),
        };
      },
      createHost: (heard) => createHost(randomUUID(), environment, heard),
      stored: () =>
        rows()
          .filter(({ sessionId }) => principal.role === 'owner' || owns(principal.name, sessionId))
          .toSorted((a, b) => a.at - b.at),
      settle() {
        for (const source of sources) source.stats();
      },
      transcript(sessionId) {
        const transcript = readTranscript(transcriptsDir(stateDir), sessionId);
        return transcript && updatesOf(transcript);
      },
      hasTranscripts: config.store.transcripts,
      secrets,
      version: VERSION,
    };
  }
  return createWebApp({ gate, maxFrameBytes: config.limits.maxFrameBytes, bodyLimits, graceMs: network.detachGraceMs, forPrincipal });
}

/** The proxy answers `initialize` also for an agent that does not start. */
function problemOf({ described, health }: RunningProxy): Error | undefined {
  const [agent] = Object.values(described());
  const [its] = Object.values(health());
  return agent?.answer === undefined ? (its?.unavailable ?? its?.lastError) : undefined;
}

const isDirectory = (directory: string): boolean => {
  try {
    return statSync(directory).isDirectory();
  } catch {
    return false; // missing or not accessible
  }
};

const POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** The page of docs/examples. It holds no secret: its user gives it a token. */
export function examplePage(addresses: () => Addresses): Endpoint {
  return {
    handle(request: IncomingMessage, response) {
      const refusal = refuseForeign(request, addresses());
      if (refusal) return refuse(response, refusal);
      if (request.method !== 'GET') return refuse(response, { status: 405, why: 'method not allowed' });
      response.writeHead(200, {
        ...{ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY, 'cache-control': 'no-store' },
        ...{ 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' },
      });
      response.end(readFileSync(packageFile('docs', 'examples', 'web-app.html')));
    },
  };
}
