// The paths of the daemon's listener, a line for each. Only those without a token stand outside the gate. The console has every other path.
import type { Gate } from '../../../listener/gate.ts';
import type { Endpoint } from '../../../listener/listener.ts';
import type { BodyLimits } from '../../../listener/respond.ts';
import type { WebApp } from '../../../web-app/endpoint.ts';
import type { InProcess } from '../../in-process-proxy.ts';
import type { NetworkClients } from '../network-clients.ts';
import type { BusEndpoint } from './bus.ts';
import { daemonStatus } from './daemon-status.ts';
import type { McpEndpoint } from './mcp.ts';
import { metrics } from './metrics.ts';
import { promptQueue } from './prompt-queue.ts';

export type EndpointTable = readonly (readonly [path: string, Endpoint])[];

/** Says that the daemon runs, and nothing else. */
const health: Endpoint = { handle: (_, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end('ok\n') };

type TableParts = {
  readonly gate: Gate;
  readonly clients: NetworkClients;
  readonly bodyLimits: (principal: string) => BodyLimits;
  readonly mcp: McpEndpoint;
  readonly webApp: WebApp;
  /** A page that uses `/ws`, if it is served. */
  readonly example: Endpoint | undefined;
  /** Undefined unless this daemon serves a bus. */
  readonly bus: BusEndpoint | undefined;
  readonly telemetry: InProcess['telemetry'];
};

export function endpointTable({ gate: { guard }, clients, bodyLimits, mcp, webApp, example, bus, telemetry }: TableParts): EndpointTable {
  return [
    ['/acp', guard(clients.acp)],
    ['/mcp', guard(mcp)],
    ['/ws', guard(webApp)],
    ...(example ? [['/example', example] as const] : []),
    ...(bus ? [['/bus', guard(bus)] as const] : []),
    ['/daemon', guard(daemonStatus(clients))],
    ['/daemon/queue', guard(promptQueue(clients, bodyLimits))],
    ['/metrics', guard(metrics(telemetry))],
    ['/healthz', health],
    ['/readyz', health],
  ];
}
