// How an agent can be asked to bring a session back, the best way first.
import type { InitializeResult } from '../acp/shapes.ts';
import { offers } from './capabilities.ts';

export type WayBack = 'session/resume' | 'session/load';

/**
 * A resume can be done as a load whose replay is withheld, also after the agent has refused to resume. A load can be done as a resume by
 * whoever can tell what was said himself.
 */
export function waysBack(result: InitializeResult | undefined, asked: WayBack): readonly WayBack[] {
  const load: readonly WayBack[] = offers(result, 'loadSession') ? ['session/load'] : [];
  const resume: readonly WayBack[] = offers(result, 'sessionCapabilities', 'resume') ? ['session/resume'] : [];
  if (asked === 'session/load') return load.length > 0 ? load : resume;
  return [...resume, ...load];
}
