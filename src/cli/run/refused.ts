// What an agent wanted and did not get, told to whoever started it: without a terminal there is nobody to ask, and silence would look like a failure of the agent.
import type { AuditEntry } from '../../audit/audit-line.ts';
import { withoutControls } from '../../control-characters.ts';

export type Refused = {
  /** A question of the agent's that nobody could answer. */
  asked(params: unknown): void;
  /** A decision of the policy. */
  decided(entry: Pick<AuditEntry, 'verdict' | 'summary' | 'why' | 'mode'>): void;
};

const HINT =
  'nobody can be asked here, so a policy must allow it: --policy FILE with a rule such as "edit($cwd/**)", or "policy" in the configuration';

/** `say` cleans its words of secrets. */
export function createRefused(say: (text: string) => void): Refused {
  let isHinted = false;
  const tell = (what: string, why?: string) => {
    say(`refused: ${withoutControls(what)}${why === undefined ? '' : `; ${withoutControls(why)}`}`);
  };
  return {
    asked(params) {
      const { toolCall } = (params ?? {}) as { toolCall?: { title?: unknown; kind?: unknown } };
      tell(typeof toolCall?.title === 'string' ? toolCall.title : 'a request for permission');
      if (!isHinted) say(HINT);
      isHinted = true;
    },
    decided({ verdict, summary, why, mode }) {
      if (verdict === 'deny' && mode !== 'observe') tell(summary, why);
    },
  };
}
