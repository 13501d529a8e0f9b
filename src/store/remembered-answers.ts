// "Always" answers of the user, for a session or a workspace: one JSON line per answer and per revocation, appended, because several
// processes may write at once. Only the request's hash and a redacted line for people are stored.
import { createHash, randomBytes } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, readSync, statSync, writeSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { makeDirectory } from '../private-files.ts';
import { lockOwner, mayBeAlive } from '../processes/lock-owner.ts';

export type RememberedAnswer = {
  readonly id: string;
  readonly at: string;
  readonly verdict: 'allow' | 'deny';
  readonly scope: 'session' | 'workspace';
  readonly agent: string;
  /** The session's directory; the answer applies to no other. */
  readonly cwd: string;
  readonly session?: string | undefined;
  /** The hash that identifies the request. */
  readonly key: string;
  /** For people, redacted. */
  readonly what: string;
  /** The policy in force. The answer does not apply under another policy, which might not have asked. */
  readonly policy: string;
  readonly expiresAt?: string | undefined;
  /** The process that owned the session. Agents may reuse a session id in a later process. */
  readonly keeper?: string | undefined;
};

export type NewAnswer = Pick<RememberedAnswer, 'verdict' | 'agent' | 'cwd' | 'session' | 'what' | 'policy'> & {
  readonly scope: 'once' | 'session' | 'workspace';
  /** From `keyOf` of the policy; undefined if the answer must not be stored. */
  readonly key: string | undefined;
  readonly ttlMs?: number | undefined;
};

export type Kept = { readonly isKept: true; readonly id: string } | { readonly isKept: false; readonly why: string };

export type RememberedAnswers = {
  readonly file: string;
  /** Never throws; an answer that cannot be stored applies once. */
  remember(answer: NewAnswer): Kept;
  /** The answers for a session. The same array until something changes, so that callers can cache results. */
  answersFor(where: { readonly cwd: string; readonly session: string | undefined; readonly policy: string }): readonly RememberedAnswer[];
  /** Every stored answer that may still apply, oldest first. */
  list(): readonly RememberedAnswer[];
  /** Whether the answer existed. Throws if the revocation cannot be written. */
  revoke(id: string): boolean;
  /** The session ended, and its answers with it. */
  endSession(session: string): void;
};

export type RememberedOptions = {
  /** The redactor. */
  readonly redact: (text: string) => string;
  readonly now?: () => Date;
  readonly onProblem?: (error: unknown) => void;
};

export const rememberedFile = (stateDir: string): string => path.join(stateDir, 'remembered.jsonl');

/** The stored form of a key. */
export const hashKey = (key: string): string => createHash('sha256').update(key).digest('hex');

const MAX_WHAT = 500;

export function createRemembered(stateDir: string, options: RememberedOptions): RememberedAnswers {
  const { redact, now = () => new Date(), onProblem = () => {} } = options;
  const file = rememberedFile(stateDir);
  const keeper = `${lockOwner()}#${randomBytes(8).toString('hex')}`;
  const answers = new Map<string, RememberedAnswer>();
  const served = new Map<string, readonly RememberedAnswer[]>();
  let readFrom = { bytes: 0, inode: 0 };

  function refresh(): void {
    let bytes: Buffer;
    let inode: number;
    try {
      const { size, ino } = statSync(file);
      if (size === readFrom.bytes && ino === readFrom.inode) return;
      inode = ino;
      bytes = readFileSync(file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') onProblem(error);
      // An unreadable file means no remembered answers: the user is asked again.
      answers.clear();
      readFrom = { bytes: 0, inode: 0 };
      return;
    }
    if (bytes.length < readFrom.bytes || inode !== readFrom.inode) {
      answers.clear();
      readFrom = { bytes: 0, inode };
    }
    // Another process may still be writing an incomplete last line; the next read includes it.
    const whole = bytes.lastIndexOf(0x0a) + 1;
    for (const line of bytes.toString('utf8', readFrom.bytes, whole).split('\n')) apply(line);
    readFrom = { bytes: whole, inode };
  }
  function apply(line: string): void {
    const found = parse(line);
    if (found === undefined) return;
    if ('revoked' in found) answers.delete(found.revoked);
    else answers.set(found.id, found);
  }
  const isCurrent = ({ expiresAt }: RememberedAnswer) => expiresAt === undefined || Date.parse(expiresAt) > now().getTime();

  return {
    file,
    remember({ scope, key, ttlMs, what, session, ...rest }) {
      if (scope === 'once') return { isKept: false, why: 'the policy keeps no answers' };
      if (key === undefined) return { isKept: false, why: 'the request has too few details to recognise it again' };
      if (scope === 'session' && session === undefined) return { isKept: false, why: 'it belongs to no session' };
      const at = now();
      const answer: RememberedAnswer = {
        id: randomBytes(4).toString('hex'),
        at: at.toISOString(),
        ...rest,
        scope,
        session,
        key: hashKey(key),
        what: redact(what).slice(0, MAX_WHAT),
        expiresAt: ttlMs === undefined ? undefined : new Date(at.getTime() + ttlMs).toISOString(),
        keeper: scope === 'session' ? keeper : undefined,
      };
      try {
        append(stateDir, file, answer);
        return { isKept: true, id: answer.id };
      } catch (error) {
        onProblem(error);
        return { isKept: false, why: `it cannot be stored (${(error as NodeJS.ErrnoException).code})` };
      }
    },
    answersFor({ cwd, session, policy }) {
      refresh();
      const found = [...answers.values()].filter(
        (answer) =>
          answer.cwd === cwd &&
          answer.policy === policy &&
          isCurrent(answer) &&
          (answer.scope === 'workspace' || (answer.keeper === keeper && answer.session === session)),
      );
      const where = JSON.stringify([cwd, session, policy]);
      const before = served.get(where);
      if (before !== undefined && before.length === found.length && found.every((answer, index) => answer === before[index])) return before;
      served.set(where, found);
      return found;
    },
    list() {
      refresh();
      return [...answers.values()].filter((answer) => isCurrent(answer) && (answer.keeper === undefined || isRunning(answer.keeper)));
    },
    revoke(id) {
      refresh();
      if (!answers.has(id)) return false;
      append(stateDir, file, { revoked: id, at: now().toISOString() });
      return true;
    },
    endSession(session) {
      refresh();
      for (const where of served.keys()) if (JSON.parse(where)[1] === session) served.delete(where);
      for (const answer of answers.values()) {
        if (answer.keeper !== keeper || answer.session !== session) continue;
        answers.delete(answer.id); // at once, even if the revocation cannot be written
        try {
          append(stateDir, file, { revoked: answer.id, at: now().toISOString() });
        } catch (error) {
          onProblem(error);
        }
      }
    },
  };
}

function append(stateDir: string, file: string, line: object): void {
  makeDirectory(stateDir);
  const fd = openSync(file, constants.O_RDWR | constants.O_APPEND | constants.O_CREAT, 0o600);
  try {
    // A killed process may have left an incomplete line; do not append to it.
    const { size } = fstatSync(fd);
    const last = Buffer.alloc(1);
    const isTorn = size > 0 && readSync(fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a;
    const bytes = Buffer.from(`${isTorn ? '\n' : ''}${JSON.stringify(line)}\n`);
    // Readers ignore the partial line, and the next line starts after it.
    if (writeSync(fd, bytes) < bytes.length) throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
  } finally {
    closeSync(fd);
  }
}

function parse(line: string): RememberedAnswer | { readonly revoked: string } | undefined {
  if (line === '') return undefined;
  let value: Partial<RememberedAnswer> & { readonly revoked?: unknown };
  try {
    value = Object(JSON.parse(line));
  } catch {
    return undefined;
  }
  if (typeof value.revoked === 'string') return { revoked: value.revoked };
  const { id, at, verdict, scope, agent, cwd, key, what, policy, expiresAt, session, keeper } = value;
  if (![id, at, agent, cwd, key, what, policy].every((field) => typeof field === 'string')) return undefined;
  if ((verdict !== 'allow' && verdict !== 'deny') || (scope !== 'session' && scope !== 'workspace')) return undefined;
  if (scope === 'session' && (typeof keeper !== 'string' || typeof session !== 'string')) return undefined;
  // An unreadable expiry would never take effect.
  if (expiresAt !== undefined && Number.isNaN(Date.parse(expiresAt))) return undefined;
  return value as RememberedAnswer;
}

function isRunning(keeper: string): boolean {
  const end = keeper.lastIndexOf('#');
  // Earlier versions wrote the process id only.
  return mayBeAlive(end < 0 ? `${Number.parseInt(keeper, 10)}.0.${os.hostname()}` : keeper.slice(0, end));
}
