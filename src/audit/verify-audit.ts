// Whether the audit log is as it was written: follows the chain of hashes from the first line to the last, and holds it against the head.
import { open, readFile } from 'node:fs/promises';
import { type Head, hashOf, headFile, NO_LINE, parseAuditLine, parseHead, type Torn } from './audit-line.ts';

/** `line` is the place in the file, counted from 1; after the last line for what is missing at the end. */
export type AuditFinding = {
  readonly kind: 'edited' | 'missing' | 'copied' | 'reordered' | 'foreign' | 'cut' | 'no-head';
  readonly line: number;
  readonly says: string;
};

export type AuditReport = {
  readonly file: string;
  /** Lines that are decisions. */
  readonly lines: number;
  /** Its last line is an end record. Otherwise a process still writes to it, or was killed. */
  readonly isEnded: boolean;
  readonly problems: readonly AuditFinding[];
  /** What is worth knowing and no sign of tampering. */
  readonly notes: readonly AuditFinding[];
};

type Link = {
  readonly isEnd: boolean;
  readonly at: number;
  readonly seq: number;
  readonly prev: string;
  readonly hash: string;
  readonly lost: Head | undefined;
};

/**
 * Throws what reading the file throws, unless only the head is left: then every line is missing. `about`: fields that each line of this log must
 * have.
 */
export async function verifyAudit(file: string, about: Readonly<Record<string, string>> = {}): Promise<AuditReport> {
  const head = await readHead(file);
  const links: Link[] = [];
  const problems: AuditFinding[] = [];
  const notes: AuditFinding[] = [];
  let strange: { at: number; bytes: Buffer; isWhole: boolean }[] = [];
  for await (const { at, bytes, isWhole } of linesOf(file, head !== undefined)) {
    const line = isWhole ? parseAuditLine(bytes.toString('utf8')) : undefined;
    if (line === undefined) {
      strange.push({ at, bytes, isWhole });
      continue;
    }
    settle(strange, line.torn, at, problems, notes);
    strange = [];
    if (Object.entries(about).some(([name, value]) => line[name] !== value)) problems.push(ofAnother(at));
    links.push({ isEnd: line.end === true, at, seq: line.seq, prev: line.prev, hash: hashOf(bytes), lost: line.lost });
  }
  const cut = strange.find(({ isWhole }) => !isWhole);
  for (const { at } of strange.filter(({ isWhole }) => isWhole)) problems.push(foreign(at));
  const { originals, copies } = copiesIn(links);
  problems.push(...copies, ...brokenLinks(originals), ...againstHead(originals, head));
  if (cut !== undefined) {
    // The head is written after the line: if it knows of no later line, this one was never finished and its answer never sent.
    const wasNeverWhole = head !== undefined && head.seq <= (links.at(-1)?.seq ?? 0);
    (wasNeverWhole ? notes : problems).push({
      kind: 'cut',
      line: cut.at,
      says: `line ${cut.at} breaks off: ${wasNeverWhole ? CRASH : 'its end is missing'}`,
    });
  }
  if (head === undefined && links.length > 0)
    notes.push({
      kind: 'no-head',
      line: links.length,
      says: `${headFile(file)} is not there, so lines missing at the end would not be seen`,
    });
  const once = [...new Map(problems.map((problem) => [`${problem.kind} ${problem.line}`, problem])).values()];
  return {
    file,
    lines: links.filter(({ isEnd }) => !isEnd).length,
    isEnded: links.at(-1)?.isEnd === true,
    problems: once.sort((a, b) => a.line - b.line),
    notes,
  };
}

const CRASH = 'a process ended while it was written, before anything was answered';

// What stands between two lines is fine if the second one says so, and says that it was one line broken off.
function settle(
  strange: readonly { readonly at: number; readonly bytes: Buffer }[],
  torn: Torn | undefined,
  at: number,
  problems: AuditFinding[],
  notes: AuditFinding[],
): void {
  const [first] = strange;
  if (torn === undefined) {
    for (const line of strange) problems.push(foreign(line.at));
    return;
  }
  const isExplained = first !== undefined && strange.length === 1 && torn.isCut && hashOf(first.bytes) === torn.sha256;
  if (isExplained) notes.push({ kind: 'cut', line: first.at, says: `line ${first.at} breaks off: ${CRASH}` });
  else if (first === undefined)
    problems.push({ kind: 'missing', line: at, says: `line ${at} tells of ${torn.bytes} bytes before it that are not there any more` });
  else for (const line of strange) problems.push(foreign(line.at));
}

const foreign = (line: number): AuditFinding => ({ kind: 'foreign', line, says: `line ${line} is no line of the audit log` });
const ofAnother = (line: number): AuditFinding => ({ kind: 'foreign', line, says: `line ${line} is of another log` });
const edited = (line: number): AuditFinding => ({ kind: 'edited', line, says: `line ${line} was changed after it was written` });

/** Lines that stand in the log twice. The chain goes on after the original. */
function copiesIn(links: readonly Link[]): { readonly originals: readonly Link[]; readonly copies: readonly AuditFinding[] } {
  const placeOf = new Map<string, number>();
  for (const { hash, at } of links) if (!placeOf.has(hash)) placeOf.set(hash, at);
  const isCopy = ({ hash, at }: Link): boolean => placeOf.get(hash) !== at;
  return {
    originals: links.filter((link) => !isCopy(link)),
    copies: links
      .filter(isCopy)
      .map(({ at, hash }) => ({ kind: 'copied', line: at, says: `line ${at} is a copy of line ${placeOf.get(hash)}` })),
  };
}

/** Each line must name the hash of the line before it and have the next number. A broken link always leads to a finding. */
function brokenLinks(links: readonly Link[]): AuditFinding[] {
  const found: AuditFinding[] = [];
  const hashes = new Set(links.map(({ hash }) => hash));
  const inOrder = [...links].sort((a, b) => a.seq - b.seq);
  let before: Pick<Link, 'at' | 'seq' | 'hash'> = { at: 0, seq: 0, hash: NO_LINE };
  let firstBroken: number | undefined;
  for (const [index, link] of links.entries()) {
    const { at, seq, prev, lost } = link;
    if (lost !== undefined && lost.seq <= before.seq) found.push(edited(before.at));
    else if (lost !== undefined)
      found.push({ kind: 'missing', line: at, says: `when line ${at} was written, ${many(before.seq + 1, lost.seq)} missing at the end` });
    if (prev === before.hash) {
      if (seq !== before.seq + 1) found.push(edited(at));
    } else if (hashes.has(prev) || prev === NO_LINE) {
      firstBroken ??= at;
      // It follows a line that stands elsewhere. The one that was moved is the one that is not in its place by number.
      if (inOrder[index] !== link)
        found.push({ kind: 'reordered', line: at, says: `line ${at} (number ${seq}) is not where it was written` });
    } else if (seq > before.seq + 1) {
      found.push({ kind: 'missing', line: at, says: `before line ${at}, ${many(before.seq + 1, seq - 1)} missing` });
    } else found.push(edited(before.at > 0 ? before.at : at));
    before = link;
  }
  return found.length === 0 && firstBroken !== undefined ? [edited(firstBroken)] : found;
}

function againstHead(links: readonly Link[], head: Head | undefined): AuditFinding[] {
  const last = links.at(-1);
  if (head === undefined) return [];
  const lastSeq = last?.seq ?? 0;
  const end = (last?.at ?? 0) + 1;
  if (head.seq > lastSeq) return [{ kind: 'missing', line: end, says: `at the end, ${many(lastSeq + 1, head.seq)} missing` }];
  const named = links.findLast(({ seq }) => seq === head.seq);
  return named === undefined || named.hash === head.hash ? [] : [edited(named.at)];
}

function many(from: number, to: number): string {
  return from >= to ? `number ${to} is` : `numbers ${from} to ${to} are`;
}

async function readHead(file: string): Promise<Head | undefined> {
  try {
    return parseHead(await readFile(headFile(file), 'utf8'));
  } catch {
    return undefined;
  }
}

/** The lines of a file as bytes, one at a time: a log may be larger than a string can be. */
async function* linesOf(file: string, mayBeGone: boolean): AsyncGenerator<{ at: number; bytes: Buffer; isWhole: boolean }> {
  let rest: Buffer[] = [];
  let at = 0;
  const handle = await open(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' && mayBeGone) return undefined;
    throw error;
  });
  if (!handle) return;
  for await (const chunk of handle.createReadStream() as AsyncIterable<Buffer>) {
    let from = 0;
    for (let end = chunk.indexOf(0x0a); end >= 0; end = chunk.indexOf(0x0a, from)) {
      yield { at: ++at, bytes: Buffer.concat([...rest, chunk.subarray(from, end)]), isWhole: true };
      rest = [];
      from = end + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  }
  if (rest.length > 0) yield { at: ++at, bytes: Buffer.concat(rest), isWhole: false };
}
