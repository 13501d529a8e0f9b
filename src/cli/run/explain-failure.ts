// Turns errors into messages with advice and an exit code.

import type { AuditEntry } from '../../audit/audit-line.ts';
import { ClientError } from '../../client/client-error.ts';
import { withoutControls } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { CommandFailure } from '../failure.ts';

const EXIT = { failed: 1, timeout: 3, unavailable: 7 } as const;
const AUTH_REQUIRED = -32000;
const DETAIL_CHARACTERS = 500;

/** The proxy's error data about an unavailable agent; `cause` explains why it is not restarted at once. */
type Data = {
  readonly agent?: unknown;
  readonly authMethods?: unknown;
  readonly reason?: unknown;
  readonly atStart?: unknown;
  readonly stderr?: unknown;
  readonly cause?: { readonly reason?: unknown; readonly message?: unknown } | null;
};

const LATE: readonly unknown[] = ['no_initialize', 'no_session'];
const ABSENT: readonly unknown[] = ['not_startable', 'backing-off', 'crash-loop', 'stopped'];

/**
 * Returns anything but an error response unchanged. `logins` are the offered methods, for an error that does not name them. Agent messages
 * may contain secrets.
 */
export function describeFailure(error: unknown, requestedAgent: string, redact: Redactor, logins: readonly string[] = []): unknown {
  if (!(error instanceof ClientError)) return error;
  const data = (error.data ?? {}) as Data;
  const agent = typeof data.agent === 'string' ? data.agent : requestedAgent;
  const message = withDetail(typeof data.cause?.message === 'string' ? data.cause.message : error.message, data);
  if (error.code === AUTH_REQUIRED)
    return new CommandFailure(
      EXIT.unavailable,
      redact(`agent "${agent}" requires a login: ${message}`),
      loginHint(agent, data.authMethods ?? logins),
    );
  const stderrLines = Array.isArray(data.stderr) ? data.stderr.map(String) : [];
  const isQuoted = stderrLines.length === 1 && message.includes(`"${stderrLines[0]}"`);
  const text = [message, ...(isQuoted ? [] : stderrLines.map((line) => `  ${line}`))].join('\n');
  const code = exitCodeOf(data);
  const isAgent = code !== EXIT.failed || data.reason === 'agent_exited';
  const hint = isAgent ? `to find out why, run: switchboard agents test ${agent}` : 'run with -o jsonl to see every frame';
  return new CommandFailure(code, redact(text), message.includes(`switchboard agents test ${agent}`) ? undefined : hint);
}

function exitCodeOf({ reason, atStart, cause }: Data): number {
  if (LATE.includes(cause?.reason ?? reason)) return EXIT.timeout;
  return ABSENT.includes(reason) || atStart === true ? EXIT.unavailable : EXIT.failed;
}

/** Many agents answer "Internal error" with the detail in `data`. */
function withDetail(message: string, data: unknown): string {
  const { details, message: inner } = (data ?? {}) as { readonly details?: unknown; readonly message?: unknown };
  const detail = [data, details, inner].find((one) => typeof one === 'string')?.trim();
  if (!detail || message.includes(detail)) return message;
  return `${message}: ${detail.length > DETAIL_CHARACTERS ? `${detail.slice(0, DETAIL_CHARACTERS)}…` : detail}`;
}

function loginHint(agent: string, methods: unknown): string {
  const names = Array.isArray(methods) ? methods.map((method) => String(method).replace(`${agent}/`, '')) : [];
  if (names.length === 0) return `to log in, run: switchboard auth ${agent}`;
  return `methods: ${names.join(', ')}; to log in, run: switchboard auth ${agent} ${names.length === 1 ? names[0] : 'METHOD'}`;
}

// Reports denied requests to the user: without a terminal nobody can answer, and silence would look like an agent failure.
export type Refused = {
  /** A permission request that nobody could answer. */
  unanswered(params: unknown): void;
  /** A policy decision. */
  decided(entry: Pick<AuditEntry, 'verdict' | 'summary' | 'why' | 'mode'>): void;
};

const HINT =
  'without a terminal, a policy must allow this: use --policy FILE with a rule such as "edit($cwd/**)", or set "policy" in the configuration';

/** `say` redacts its text. */
export function createRefused(say: (text: string) => void): Refused {
  let isHinted = false;
  const tell = (what: string, why?: string) => {
    say(`denied: ${withoutControls(what)}${why === undefined ? '' : `; ${withoutControls(why)}`}`);
  };
  return {
    unanswered(params) {
      const { toolCall } = (params ?? {}) as { toolCall?: { title?: unknown; kind?: unknown } };
      tell(typeof toolCall?.title === 'string' ? toolCall.title : 'a permission request');
      if (!isHinted) say(HINT);
      isHinted = true;
    },
    decided({ verdict, summary, why, mode }) {
      if (verdict === 'deny' && mode !== 'observe') tell(summary, why);
    },
  };
}
