// What went wrong, in words with the way on, and the exit code that says what kind it is.
import { ClientError } from '../../client/client.ts';
import type { Redactor } from '../../log/redact.ts';
import { CommandFailure } from '../command-failure.ts';

const FAILED = 1;
const UNAVAILABLE = 7;
const AUTH_REQUIRED = -32000;

type Data = { readonly agent?: unknown; readonly authMethods?: unknown; readonly reason?: unknown; readonly stderr?: unknown };

/**
 * Anything but an answer of the other side stays what it is. `logins` are the methods that were offered, for an error that does not name
 * them. An agent's words may hold secrets.
 */
export function inOwnWords(error: unknown, asked: string, redact: Redactor, logins: readonly string[] = []): unknown {
  if (!(error instanceof ClientError)) return error;
  const { authMethods, reason, stderr, ...data } = (error.data ?? {}) as Data;
  const agent = typeof data.agent === 'string' ? data.agent : asked;
  if (error.code === AUTH_REQUIRED)
    return new CommandFailure(
      UNAVAILABLE,
      redact(`agent "${agent}" wants you to log in: ${error.message}`),
      loginHint(agent, authMethods ?? logins),
    );
  const isAbsent = /could not be started|did not answer initialize|is not available|is left alone/.test(error.message);
  const isDead = isAbsent || reason === 'agent_exited';
  const words = [error.message, ...(Array.isArray(stderr) ? stderr.map((line) => `  ${line}`) : [])].join('\n');
  return new CommandFailure(
    isAbsent ? UNAVAILABLE : FAILED,
    redact(words),
    isDead ? `see: switchboard agents test ${agent}` : 'with -o jsonl you see every frame',
  );
}

function loginHint(agent: string, methods: unknown): string {
  const names = Array.isArray(methods) ? methods.map((method) => String(method).replace(`${agent}/`, '')) : [];
  if (names.length === 0) return `see how: switchboard auth ${agent}`;
  return `its methods are: ${names.join(', ')}; to log in: switchboard auth ${agent} ${names.length === 1 ? names[0] : 'METHOD'}`;
}
