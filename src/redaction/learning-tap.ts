// Learns the secrets that pass by on a leg, at once: before anything that was said after them is written down.
import type { Frame } from '../wire/frame.ts';
import { patchedId, type Tap } from '../wire/observer.ts';
import { idTextOf } from '../wire/scanner/large-frame.ts';
import { learnSecrets, mayCarrySecrets } from './learn-secrets.ts';
import type { Secrets } from './redact.ts';

const ASKS = 'elicitation/create';
/** Nobody hands over that much; and a parse takes time. */
const MAX_BYTES = 1 << 20;

export function createLearningTap(secrets: Secrets): Tap {
  /** Questions to the peer whose answers may be secrets. */
  const asked = new Set<string>();

  function learn(frame: Frame): void {
    const { start, end } = frame;
    if (end - start <= MAX_BYTES) learnSecrets(secrets, JSON.parse(frame.bytes.toString('utf8', start, end)));
  }
  return {
    skips: { receivedNotes: true, sentNotes: true },
    received(frame) {
      if (frame.kind === 'notification') return;
      if (frame.kind === 'request') {
        if (mayCarrySecrets(frame.method)) learn(frame);
      } else if (asked.size > 0 && frame.id !== undefined && asked.delete(idTextOf(frame))) learn(frame);
    },
    sent(frame, patches) {
      if (frame.method !== ASKS || asked.size > 1000) return;
      const id = patchedId(frame, patches);
      if (id !== undefined) asked.add(id);
    },
    refused: () => {},
    sentLine: () => {},
  };
}
