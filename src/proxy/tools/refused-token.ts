// Whoever knocks with a token that is worth nothing: told to people and written down, but not more often than anybody would read it.
import type { ProxyParts } from '../parts.ts';

const MAX_PER_MINUTE = 20;
const MINUTE_MS = 60_000;

export function createTokenWatch(proxy: () => ProxyParts): (whose: string) => void {
  let times: number[] = [];
  return (whose) => {
    const { clock, report, enforcement } = proxy().context;
    const now = clock.monotonicMs();
    times = times.filter((at) => now - at < MINUTE_MS);
    if (times.length >= MAX_PER_MINUTE) return;
    times.push(now);
    const why = 'a token that is not valid, or no longer';
    report(`somebody was refused ${whose}: ${why}`);
    enforcement?.tokenRefused(why);
  };
}
