// One line of the audit log: its fields, and the hash that chains it to the line before.
import { createHash } from 'node:crypto';
import { isObject } from '../json-object.ts';

export type AuditVerdict = 'allow' | 'ask' | 'deny';
/**
 * `policy`: a rule or a default. `user`: a person at the client. `approve`: the client, as `--approve` or `--yolo` tell it; nobody saw the
 * request. `memory`: an answer the user gave earlier. `timeout`: nobody answered in time. `agent`: the agent withdrew the request before it
 * was answered.
 */
export type AnsweredBy = 'policy' | 'user' | 'approve' | 'memory' | 'timeout' | 'agent';

/**
 * `allowed`: it went ahead. `prevented`: it did not happen. `noticed`: it happened although the policy denies it, because the agent did not
 * ask or did not obey, or because the policy is only observed. `unasked`: it happened, and the agent did not ask although the policy asks.
 * `withdrawn`: the turn was cancelled, or nobody waits for the answer any more.
 */
export type AuditOutcome = 'allowed' | 'prevented' | 'noticed' | 'unasked' | 'withdrawn';

/** A decision to record. Its texts may hold secrets and are redacted before they are written. */
export type AuditEntry = {
  readonly agent: string;
  readonly session?: string | undefined;
  /** What was asked through: `session/request_permission`, `fs/read_text_file`, `tools/call`, … */
  readonly method: string;
  /** The request as it came. Only its hash is written. */
  readonly request: string | Uint8Array;
  /** One line for people: `execute: git status`. */
  readonly summary: string;
  /** How many actions the line is about, if there are several. */
  readonly count?: number | undefined;
  readonly evidence: string;
  readonly verdict: AuditVerdict;
  /** Why, in one sentence. */
  readonly why?: string | undefined;
  readonly rule?: { readonly id: string; readonly file: string; readonly line: number } | undefined;
  readonly layer?: string | undefined;
  readonly answeredBy: AnsweredBy;
  readonly outcome: AuditOutcome;
  /** The kind of the option that the user chose, such as `allow_once`. */
  readonly answer?: string | undefined;
  /** The line with the user's answer to an earlier request, where that answer covers this one. */
  readonly answerIn?: number | undefined;
  /** What was sent: the kind of the option, `cancelled`, `error`; nothing when the frame was passed on. */
  readonly option?: string | undefined;
  readonly latencyMs: number;
  readonly policyHash: string;
  /** The version of the policy bundle, on a host that obeys one. */
  readonly bundle?: number | undefined;
  /** `observe`: the verdict was noted and not enforced. */
  readonly mode?: 'enforce' | 'observe' | undefined;
  /** In the log of a host: the number of the decision's line in the log of its machine, which `answerIn` means, too. */
  readonly line?: number | undefined;
  /** In the log of a host: how many denials before this decision are in the log of its machine only, because too many lines waited for the bus. */
  readonly skipped?: number | undefined;
};

/** A line as it is read back. `seq`, `prev` and the two notes are the chain; the rest is for readers. */
export type AuditLine = Readonly<Record<string, unknown>> & {
  readonly seq: number;
  readonly prev: string;
  /** What stood between this line and the one before it: `isCut` is one line that a crash cut off, anything else was put there. */
  readonly torn?: Torn;
  /** What the head had seen and this line's writer did not find: more lines, or another last one. */
  readonly lost?: Head;
  /** An end record: its writer closed the log. It holds no decision. */
  readonly end?: true;
};

export type Torn = { readonly bytes: number; readonly sha256: string; readonly isCut: boolean };
export type Head = { readonly seq: number; readonly hash: string };

/** What the first line names as the hash of the line before it. */
export const NO_LINE = '0'.repeat(64);

export function hashOf(bytes: string | Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Undefined if the text is no audit line. */
export function parseAuditLine(text: string): AuditLine | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const { seq, prev } = value as Partial<AuditLine>;
  return Number.isSafeInteger(seq) && Number(seq) > 0 && typeof prev === 'string' ? (value as AuditLine) : undefined;
}

/** The whole lines, without their line feeds. */
export function splitLines(lines: Buffer): readonly Buffer[] {
  const found: Buffer[] = [];
  for (let from = 0; from < lines.length; ) {
    const end = lines.indexOf(0x0a, from);
    if (end < 0) break;
    found.push(lines.subarray(from, end));
    from = end + 1;
  }
  return found;
}

/** The head is a file next to the log with the number and hash of its last line. Without it, nobody would miss a line removed from the end. */
export function headFile(file: string): string {
  return `${file.replace(/\.jsonl$/, '')}.head`;
}

export function parseHead(text: string): Head | undefined {
  const [, seq, hash] = /^(\d{1,15}) ([0-9a-f]{64})\n/.exec(text) ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash };
}
