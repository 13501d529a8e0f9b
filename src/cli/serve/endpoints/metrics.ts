// The metrics of the daemon, for Prometheus.
import type { GuardedEndpoint } from '../../../listener/gate.ts';
import { refuse } from '../../../listener/respond.ts';
import { PROMETHEUS_TYPE } from '../../../telemetry/metrics/prometheus.ts';
import type { InProcess } from '../../in-process-proxy.ts';

export const metrics = (telemetry: InProcess['telemetry']): GuardedEndpoint => ({
  roles: ['metrics', 'owner'],
  handle({ method }, response) {
    if (method !== 'GET' && method !== 'HEAD') return refuse(response, { status: 405, why: 'only GET is allowed' });
    if (!telemetry) return refuse(response, { status: 404, why: 'metrics are off: telemetry.metrics is false in the configuration' });
    response.writeHead(200, { 'content-type': PROMETHEUS_TYPE, 'cache-control': 'no-store' }).end(telemetry.text());
  },
});
