// Reports and audits MCP connections with an invalid token, at a limited rate.
import type { Parts } from '../parts.ts';

const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;

export function createTokenWatch(proxy: () => Parts<'context'>): (whose: string) => void {
  let times: number[] = [];
  return (whose) => {
    const { clock, report, enforcement } = proxy().context;
    const now = clock.monotonicMs();
    times = times.filter((at) => now - at < MINUTE_MS);
    if (times.length >= MAX_PER_MINUTE) return;
    times.push(now);
    const why = 'invalid or expired token';
    report(`rejected an MCP connection to ${whose}: ${why}`);
    enforcement?.tokenRefused(why);
  };
}
