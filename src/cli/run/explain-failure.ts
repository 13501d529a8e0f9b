// Turns errors into messages with advice and an exit code.

import type { AuditEntry } from '../../audit/audit-line.ts';
import { ClientError, DETAIL_CHARACTERS, withDetail } from '../../client/client-error.ts';
import { withoutControls } from '../../control-characters.ts';
import type { Redactor } from '../../redaction/redact.ts';
import { CommandFailure } from '../failure.ts';
import type { Approval } from './approve.ts';
import type { TurnFacts } from './turns.ts';

const EXIT = { failed: 1, timeout: 3, unavailable: 7 } as const;
const AUTH_REQUIRED = -32000;

/** The proxy's error data about an unavailable agent; `cause` explains why it is not restarted at once. */
type Data = {
  readonly agent?: unknown;
  readonly authMethods?: unknown;
  readonly reason?: unknown;
  readonly atStart?: unknown;
  readonly stderr?: unknown;
  readonly cause?: { readonly reason?: unknown; readonly message?: unknown } | null;
};

const LATE: readonly unknown[] = ['no_initialize', 'no_session', 'prompt_timeout'];
/** The messages of these say what to do, and a test of the agent would only repeat them. */
const EXPLAINED: readonly unknown[] = ['prompt_timeout', 'no_initialize', 'not_startable', 'not_reachable', 'agent_version'];
const ABSENT: readonly unknown[] = ['not_startable', 'not_reachable', 'backing-off', 'crash-loop', 'stopped'];

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
  // Ours name the reason; of an agent's error, code and data are all there is to go by.
  const isOurs = typeof (data as { retryable?: unknown }).retryable === 'boolean';
  const stderrLines = Array.isArray(data.stderr) ? data.stderr.map(String) : [];
  const isQuoted = stderrLines.length === 1 && message.includes(`"${stderrLines[0]}"`);
  const text = [
    isOurs ? message : `${message} (error ${error.code})`,
    ...(isOurs ? [] : dataLines(error.data, message)),
    ...(isQuoted ? [] : stderrLines.map((line) => `  ${line}`)),
  ].join('\n');
  const code = exitCodeOf(data);
  const isAgent = code !== EXIT.failed || data.reason === 'agent_exited';
  const hint = isAgent ? `to find out why, run: switchboard agents test ${agent}` : 'run with -o jsonl to see every frame';
  const isHintEnough = EXPLAINED.includes(data.cause?.reason ?? data.reason) || message.includes(`switchboard agents test ${agent}`);
  return new CommandFailure(code, redact(text), isHintEnough ? undefined : hint);
}

function exitCodeOf({ reason, atStart, cause }: Data): number {
  if (LATE.includes(cause?.reason ?? reason)) return EXIT.timeout;
  return ABSENT.includes(reason) || atStart === true ? EXIT.unavailable : EXIT.failed;
}

/** Data that the message does not contain. */
function dataLines(data: unknown, message: string): string[] {
  const text = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
  const { details, message: inner } = (data ?? {}) as { readonly details?: unknown; readonly message?: unknown };
  const isInMessage = [data, details, inner].some(
    (one) => typeof one === 'string' && message.includes(one.trim().slice(0, DETAIL_CHARACTERS)),
  );
  if (text === '' || text === '{}' || text === 'null' || isInMessage) return [];
  return [`  data: ${text.length > DETAIL_CHARACTERS ? `${text.slice(0, DETAIL_CHARACTERS)}…` : text}`];
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
  /** A write outside the working directory, which nothing allows. */
  write(path: string): void;
  /** A policy decision. */
  decided(entry: Pick<AuditEntry, 'verdict' | 'summary' | 'why' | 'mode' | 'outcome' | 'option' | 'answeredBy'>): void;
};

const UNAPPROVED =
  'without a terminal, a policy or --approve must allow this: use --policy FILE with a rule such as "edit($cwd/**)", set "policy" in the configuration, or use --approve all';
const HINTS: Readonly<Record<Approval, string>> = {
  none: UNAPPROVED,
  reads: UNAPPROVED,
  inside: '--yolo approves only what stays in the working directory; a policy or --approve all must allow this',
  all: 'the agent offers no option that allows it',
};

/** `say` redacts its text; `facts` learn what decides the exit code. */
export function createRefused(
  say: (text: string) => void,
  facts: Pick<TurnFacts, 'isRefused' | 'isViolation'>,
  approval: Approval,
): Refused {
  let isHinted = false;
  const explainCall = (what: string, why?: string) => {
    say(`denied: ${withoutControls(what)}${why === undefined ? '' : `; ${withoutControls(why)}`}`);
  };
  return {
    unanswered(params) {
      const { toolCall } = (params ?? {}) as { toolCall?: { title?: unknown; kind?: unknown } };
      facts.isRefused = true;
      explainCall(typeof toolCall?.title === 'string' ? toolCall.title : 'a permission request');
      if (!isHinted) say(HINTS[approval]);
      isHinted = true;
    },
    write(path) {
      facts.isRefused = true;
      explainCall(`write ${path}`, 'it is outside the working directory; to change files there, run switchboard in that directory');
    },
    decided({ verdict, summary, why, mode, outcome, option, answeredBy }) {
      if (verdict !== 'deny' || mode === 'observe' || answeredBy === 'agent') return;
      if (outcome === 'prevented') {
        facts.isRefused = true;
        return explainCall(summary, why);
      }
      if (outcome !== 'noticed') return;
      facts.isViolation ||= option === 'cancel' || option === 'kill';
      say(`the agent did this without permission: ${withoutControls(summary)}${why === undefined ? '' : `; ${withoutControls(why)}`}`);
    },
  };
}
