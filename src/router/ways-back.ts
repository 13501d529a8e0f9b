// How an agent can be asked to bring a session back, the best way first.
import type { InitializeResult } from '../acp/shapes.ts';
import { offers } from './capabilities.ts';

export type WayBack = 'session/resume' | 'session/load';

/** A resume can be done as a load whose replay is withheld, also after the agent has refused to resume; a load cannot be done without its replay. */
export function waysBack(result: InitializeResult | undefined, asked: WayBack): readonly WayBack[] {
  const load: readonly WayBack[] = offers(result, 'loadSession') ? ['session/load'] : [];
  if (asked === 'session/load') return load;
  return offers(result, 'sessionCapabilities', 'resume') ? ['session/resume', ...load] : load;
}
