// The editor's side: its open requests, each answered exactly once, and the questions agents have put to it.
import { failure, type ProxyError } from '../../errors.ts';
import { canonicalId } from '../../router/request-ledger.ts';
import type { Frame } from '../../wire/frame.ts';
import { idTextOf } from '../../wire/scanner/large-frame.ts';
import { inOrder, type Patch, type Writer } from '../../wire/writer.ts';
import type { AgentLeg } from '../agents/agent.ts';
import type { Judged } from '../enforcement/enforcement.ts';
import { errorLine, requestLine, resultLine } from '../messages.ts';
import type { Session } from '../sessions/session.ts';

/** A request of the editor's that has no answer yet. */
export type OpenRequest = {
  /** As the editor wrote it. */
  readonly idText: string;
  readonly method: string;
  session: Session | undefined;
  /** The session that it names, while nobody knows whose that is. */
  sought: string | undefined;
  /** Where it waits for an answer; undefined while it is here. */
  at: { readonly leg: AgentLeg; readonly id: string } | undefined;
  /** The editor has taken it back, or its turn was cancelled. */
  isCancelled: boolean;
  isAnswered: boolean;
  /** Stops what is being done for it here, as soon as it has an answer; undefined when only an agent works on it. */
  callOff: (() => void) | undefined;
};

/** A request of an agent's that the editor has not answered yet. */
export type Question = {
  /** As the editor sees it. */
  readonly id: string;
  /** As the agent wrote it. */
  readonly idText: string;
  readonly method: string;
  readonly leg: AgentLeg;
  session: Session | undefined;
  /** What that was called when the editor was asked. */
  readonly askedIn: string | undefined;
  /** A look at the answer before it goes on; `true` when it has been dealt with and does not. */
  readonly onAnswer: ((frame: Frame) => boolean) | undefined;
  /** The turn it belongs to was cancelled; for questions that are not answered in their own words then. */
  readonly onCancel: (() => void) | undefined;
  /** Called when it is answered or withdrawn, by whomever. */
  readonly onSettled: (() => void) | undefined;
  readonly judged: Judged | undefined;
  /** The agent has its answer from us; the editor may still show the question, and answer it too. */
  isAnswered: boolean;
};

export type NewQuestion = Omit<Question, 'id' | 'isAnswered' | 'askedIn' | 'judged'> & { readonly judged?: Judged | undefined };

export type EditorLeg = {
  /** Notes a request; undefined (and answered) when its id is already in use. */
  open(frame: Frame): OpenRequest | undefined;
  /** Passes an agent's answer on, with the editor's own id in it. */
  pass(request: OpenRequest, answer: Frame, patches?: readonly Patch[]): void;
  succeed(request: OpenRequest, resultText: string): void;
  fail(request: OpenRequest, error: ProxyError): void;
  /** An error that answers no known request. */
  complain(idText: string, error: ProxyError): void;
  /** The request the editor means by an id. */
  find(idText: string): OpenRequest | undefined;
  openRequests(): Iterable<OpenRequest>;

  /** Puts an agent's request to the editor. */
  ask(frame: Frame, question: NewQuestion, patches: readonly Patch[]): Question;
  /** Puts a question of our own to the editor, on behalf of an agent's request. */
  askOwn(method: string, paramsText: string, question: NewQuestion): Question;
  /** The question an answer belongs to, which is then no longer open; undefined when nobody waits for that answer. */
  settle(idText: string): Question | undefined;
  findQuestion(leg: AgentLeg, idText: string): Question | undefined;
  /** Whether a question is open that was asked in a session of this id. */
  asksIn(publicId: string): boolean;
  /** A question that nobody has answered yet, by the id the editor knows. */
  openQuestion(id: string): Question | undefined;
  /** We have answered the question ourselves; the editor's own answer will be dropped. */
  answeredByUs(question: Question): void;
  /** The session's questions that we have answered and the editor has not. */
  answeredIn(session: Session): readonly Question[];
  /** Nobody asks any more; false when that was so before. */
  forget(question: Question): boolean;
  questionsOf(leg: AgentLeg): readonly Question[];

  /** A request of our own, under the id that is returned. */
  ownRequest(method: string, paramsText: string, onAnswer?: (answer: Frame) => void): string;
  /** Hands an answer to whoever waits for it; false when it belongs to no request of our own. */
  ownAnswer(idText: string, answer: Frame): boolean;
  /** What a request of our own asks for, while somebody waits for its answer. */
  ownMethod(id: string): string | undefined;
  /** Nobody waits for it any more. */
  forgetOwn(id: string): void;
  notify(frame: Frame, patches?: readonly Patch[]): void;
  line(line: string): void;
  /** A line that need not go at once: it goes before anything else does, or with `flush`. True for the first that waits. */
  later(make: () => string): boolean;
  flush(): void;
};

/** Questions that we have answered ourselves and the editor has not. */
const MAX_ANSWERED_HERE = 1000;

export function createEditorLeg(writer: Writer): EditorLeg {
  const requests = new Map<string, OpenRequest>();
  /** Requests with the id null cannot be told apart, so they are not found by it. */
  const nameless = new Set<OpenRequest>();
  const questions = new Map<string, Question>();
  /** The same by the agent's own ids, the newest of each. */
  const byAgent = new WeakMap<AgentLeg, Map<string, Question>>();
  const answeredHere = new Set<Question>();
  const own = new Map<string, { readonly method: string; readonly onAnswer: (answer: Frame) => void }>();
  let nextQuestionId = 0;
  let held: (() => string)[] | undefined;
  function flush(): void {
    if (held === undefined) return;
    const lines = held;
    held = undefined;
    for (const make of lines) writer.line(make());
  }
  /** Behind what was held back. */
  function writeLine(line: string): void {
    if (held !== undefined) flush();
    writer.line(line);
  }
  function writeFrame(frame: Frame, patches: readonly Patch[]): void {
    if (held !== undefined) flush();
    writer.frame(frame, patches);
  }

  /** False if somebody has answered it before. Behind the answer, what has waited may go on: then it is called off. */
  function answers(request: OpenRequest): boolean {
    if (request.isAnswered) return false;
    request.isAnswered = true;
    requests.delete(canonicalId(request.idText));
    nameless.delete(request);
    request.session?.turns.delete(request);
    return true;
  }
  function answerByLine(request: OpenRequest, line: string): void {
    if (!answers(request)) return;
    writeLine(line);
    request.callOff?.();
  }
  function noted(asked: NewQuestion): Question {
    const { idText, method, leg, session, onAnswer, onCancel, onSettled, judged } = asked;
    const id = String(nextQuestionId++);
    // Field by field: agents ask in every turn, and copies made by spreading are slow to make and slow to read.
    const askedIn = session?.publicId;
    const question: Question = { id, idText, method, leg, session, askedIn, onAnswer, onCancel, onSettled, judged, isAnswered: false };
    questions.set(question.id, question);
    question.session?.questions.add(question);
    const own = byAgent.get(question.leg) ?? new Map<string, Question>();
    byAgent.set(question.leg, own.set(canonicalId(question.idText), question));
    return question;
  }
  function settled(question: Question): void {
    if (question.isAnswered) return;
    question.isAnswered = true;
    question.session?.questions.delete(question);
    question.onSettled?.();
  }
  function dropQuestion(question: Question): boolean {
    const wasKnown = questions.delete(question.id);
    answeredHere.delete(question);
    const own = byAgent.get(question.leg);
    const key = canonicalId(question.idText);
    if (own?.get(key) === question) own.delete(key);
    settled(question);
    return wasKnown;
  }

  return {
    open(frame) {
      const idText = idTextOf(frame);
      const method = frame.method as string;
      const request: OpenRequest = {
        idText,
        method,
        session: undefined,
        sought: undefined,
        at: undefined,
        isCancelled: false,
        isAnswered: false,
        callOff: undefined,
      };
      if (idText === 'null') {
        nameless.add(request);
        return request;
      }
      const key = canonicalId(idText);
      if (requests.has(key)) {
        writeLine(errorLine(idText, failure('ID_IN_USE', [idText])));
        return undefined;
      }
      requests.set(key, request);
      return request;
    },
    pass(request, frame, patches = []) {
      if (!answers(request)) return;
      const own = { span: frame.id as { start: number; end: number }, text: request.idText };
      writeFrame(frame, inOrder([own, ...patches]));
      request.callOff?.();
    },
    succeed: (request, resultText) => answerByLine(request, resultLine(request.idText, resultText)),
    fail: (request, error) => answerByLine(request, errorLine(request.idText, error)),
    complain: (idText, error) => writeLine(errorLine(idText, error)),
    find: (idText) => requests.get(canonicalId(idText)),
    openRequests: () => [...requests.values(), ...nameless],

    ask(frame, asked, patches) {
      const question = noted(asked);
      writeFrame(frame, inOrder([{ span: frame.id as { start: number; end: number }, text: question.id }, ...patches]));
      return question;
    },
    askOwn(method, paramsText, asked) {
      const question = noted(asked);
      writeLine(requestLine(question.id, method, paramsText));
      return question;
    },
    settle(idText) {
      const question = questions.get(idText);
      if (!question) return undefined;
      const isWaitedFor = !question.isAnswered;
      dropQuestion(question);
      return isWaitedFor ? question : undefined;
    },
    asksIn(publicId) {
      for (const { askedIn, isAnswered } of questions.values()) if (askedIn === publicId && !isAnswered) return true;
      return false;
    },
    openQuestion(id) {
      const question = questions.get(id);
      return question?.isAnswered ? undefined : question;
    },
    // The newest: an id may be in use again while the editor has not yet answered the question that we have.
    findQuestion: (leg, idText) => byAgent.get(leg)?.get(canonicalId(idText)),
    answeredByUs(question) {
      settled(question);
      answeredHere.add(question);
      // An editor that never answers them must not fill our memory; without its question, a late answer is dropped just the same.
      const [oldest] = answeredHere;
      if (oldest && answeredHere.size > MAX_ANSWERED_HERE) dropQuestion(oldest);
    },
    answeredIn: (session) => [...answeredHere].filter((question) => question.session === session),
    forget: dropQuestion,
    questionsOf: (leg) => [...questions.values()].filter((question) => question.leg === leg),

    ownRequest(method, paramsText, onAnswer) {
      const id = String(nextQuestionId++);
      if (onAnswer) own.set(id, { method, onAnswer });
      writeLine(requestLine(id, method, paramsText));
      return id;
    },
    ownAnswer(idText, answer) {
      const asked = own.get(idText);
      own.delete(idText);
      asked?.onAnswer(answer);
      return asked !== undefined;
    },
    ownMethod: (id) => own.get(id)?.method,
    forgetOwn: (id) => void own.delete(id),
    notify: (frame, patches = []) => writeFrame(frame, patches.length > 1 ? inOrder(patches) : patches),
    line: writeLine,
    later(make) {
      held?.push(make);
      if (held) return false;
      held = [make];
      return true;
    },
    flush,
  };
}
