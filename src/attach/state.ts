// The tables of the client multiplexer: clients, the shared proxies behind them, live sessions, and open requests in both directions.
import type { ProxyError } from '../errors.ts';
import type { Frame } from '../wire/frame.ts';
import type { FrameBatch } from '../wire/scanner/frame-batch.ts';
import type { Patch } from '../wire/writer.ts';
import type { SessionLog, TranscriptMark } from './session-log.ts';

/** What the core can do to a client or a proxy. */
export type Port = {
  frame(frame: Frame, patches?: readonly Patch[]): void;
  batch(batch: FrameBatch): void;
  line(line: string): void;
  /** Bytes that the peer has not read yet. */
  queuedBytes(): number;
};
export type ClientPort = Port & {
  /** Ends the connection for a reason that the client is told. */
  end(reason: string): void;
};
export type ProxyPort = Port & {
  /** Stops and continues reading from the proxy, which then pauses its agents. */
  pause(): void;
  resume(): void;
  /** Stops its agents. */
  close(): void;
};

export type Role = 'owner' | 'client' | 'observer';
export type Principal = { readonly name: string; readonly role: Role };

/** A token of the same name may have another role, and a proxy has the rights of one role. */
export const keyOf = ({ name, role }: Principal): string => `${role} ${name}`;

export type AttachedClient = {
  readonly number: number;
  readonly principal: Principal;
  readonly port: ClientPort;
  /** The proxy of its principal. */
  readonly proxy: SharedProxy;
  readonly sessions: Set<LiveSession>;
  /** Its open requests, by canonical id. */
  readonly calls: Map<string, Call>;
  /** Its `clientInfo`; undefined before initialize. */
  program: string | undefined;
  /** Undefined before initialize. */
  capabilities: ClientCapabilities | undefined;
  /** Frames that wait for the answer to its initialize; undefined once it has the answer. */
  held: { readonly frames: Frame[]; bytes: number } | undefined;
  /** Sessions whose updates of the experimental session/attach it gets. */
  readonly aware: Set<LiveSession>;
  /** It gets these of every session, and learns of its own prompts too when the agent has them. */
  readonly isToldAll: boolean;
  isGone: boolean;
};

export type ClientCapabilities = {
  readonly readsFiles: boolean;
  readonly writesFiles: boolean;
  readonly terminals: boolean;
  /** The modes of an elicitation. */
  readonly forms: boolean;
  readonly urls: boolean;
  readonly booleanOptions: boolean;
  readonly notices: boolean;
  readonly compaction: boolean;
  readonly plans: boolean;
  readonly subagents: boolean;
};

/** Its request, and what follows the answer. */
export type WaitingInitialize = { readonly idText: string; readonly released: (isOpen: boolean) => void };

/** One proxy for all clients of a principal. To the proxy, they are one client. */
export type SharedProxy = {
  readonly principal: Principal;
  readonly port: ProxyPort;
  readonly clients: Set<AttachedClient>;
  readonly sessions: Map<string, LiveSession>;
  /** Requests to the proxy, by our id. */
  readonly calls: Map<string, Call>;
  /** Requests from the proxy, by its id. */
  readonly questions: Map<string, Question>;
  /** The client that declared an MCP server of type `acp`, by its id. */
  readonly servers: Map<string, AttachedClient>;
  /** The client that created a terminal. */
  readonly terminals: Map<string, AttachedClient>;
  /** The same, also when the terminal is released: updates still name it. */
  readonly shownTerminals: Map<string, AttachedClient>;
  /** Clients that do not read. While there is one, the agents pause. */
  readonly full: Set<AttachedClient>;
  /** What agents may use: the capabilities of the client that initialized the proxy. */
  offered: ClientCapabilities | undefined;
  /** The proxy's answer to initialize, or those who wait for it. */
  initialized: { readonly resultText: string } | { readonly waiting: Map<AttachedClient, WaitingInitialize>; isAsked: boolean };
  isClosed: boolean;
};

export type LiveSession = {
  readonly id: string;
  readonly proxy: SharedProxy;
  readonly attached: Set<AttachedClient>;
  /** Those of them that cannot take all updates. */
  readonly lesser: Set<AttachedClient>;
  readonly log: SessionLog;
  readonly maxObserverBytes: number;
  /** Requests that wait for its load to end; undefined when it is open. */
  loading: (() => void)[] | undefined;
  /** The client that serves its files, terminals and other requests to one client. */
  host: AttachedClient | undefined;
  /** The result that opened it, with the changes since. */
  opened: Readonly<Record<string, unknown>>;
  readonly questions: Set<Question>;
  /** Prompts that the agent has not answered. */
  turns: number;
  isEnding: boolean;
  /** The proxy has confirmed that the session exists and may be used. Before that, nobody attaches. */
  isConfirmed: boolean;
  readonly whenConfirmed: (() => void)[];
  /** Requests that come while it ends. */
  readonly whenEnded: (() => void)[];
  /** Stops the wait for the next client. */
  stopGrace: (() => void) | undefined;
};

/** A request of a client, or of the hub itself, on its way through a proxy. */
export type Call = {
  readonly id: string;
  readonly method: string;
  readonly proxy: SharedProxy;
  /** Undefined for a request of the hub itself. */
  readonly client: AttachedClient | undefined;
  /** As the client wrote it. */
  readonly idText: string;
  readonly session: LiveSession | undefined;
  /** A prompt that the agent has. Others see it from then on. */
  hasBegun?: boolean;
  /** Acts on the answer before the client has it. */
  readonly before?: ((answer: Frame) => void) | undefined;
  /** Acts on the answer once the client has it. */
  readonly after?: ((answer: Frame) => void) | undefined;
};

/** A request of an agent. Every client that is asked sees the same id, unless it is asked again. */
export type Question = {
  readonly id: string;
  readonly proxyId: string;
  readonly proxy: SharedProxy;
  readonly session: LiveSession | undefined;
  readonly method: string;
  readonly frame: Frame;
  /** Any controller may answer; else only the client that it was sent to. */
  readonly isForAll: boolean;
  /** Who must answer, and the id of the request there. */
  readonly asked: Map<AttachedClient, string>;
  /** Who was asked before: a late answer must not count for the next request. */
  readonly askedBefore: Set<AttachedClient>;
};

export type HubDeps = {
  /** Opens the proxy of a principal. */
  readonly openProxy: (principal: Principal, shared: () => SharedProxy) => ProxyPort;
  /** Where the transcript of a session ends now. Undefined if there is none. */
  readonly mark: (proxy: SharedProxy, sessionId: string) => TranscriptMark | undefined;
  /** The updates that replay a session up to there, as JSON texts. Undefined if there is no transcript. */
  readonly history: (proxy: SharedProxy, sessionId: string, upTo: TranscriptMark | undefined) => readonly string[] | undefined;
  /** Why a client may not open a session with these params; undefined if it may. */
  readonly refuses: (principal: Principal, frame: Frame) => ProxyError | undefined;
  /** Whether the store knows a session. */
  readonly isStored: (sessionId: string) => boolean;
  /** Runs `act` later, unless the returned function is called first. */
  readonly after: (ms: number, act: () => void) => () => void;
  readonly graceMs: number;
  readonly limits: HubLimits;
  /** Offers session/attach and session/detach. */
  readonly offersAttach: boolean;
  /** A session is live from now on. */
  readonly sessionAdded?: (() => void) | undefined;
};

export type Hub = {
  readonly deps: HubDeps;
  /** By the key of the principal. */
  readonly proxies: Map<string, SharedProxy>;
  readonly clients: Set<AttachedClient>;
  /** Observers of sessions that are not live. */
  readonly watching: Map<string, Set<AttachedClient>>;
  nextId(): string;
};

export type HubLimits = {
  /** A turn that is longer loses its beginning for those who attach in mid-turn. */
  readonly maxLogBytes: number;
  /** A longer log is replaced by the transcript when no turn runs. */
  readonly trimLogBytes: number;
  /** An observer that has not read this much is disconnected. */
  readonly maxObserverBytes: number;
  /** What a client may send before it has its answer to initialize. */
  readonly maxHeldBytes: number;
  /** Requests of one client that have no answer yet, and sessions that it is attached to. */
  readonly maxOpen: number;
};

export const LIMITS: HubLimits = {
  maxLogBytes: 64 << 20,
  trimLogBytes: 4 << 20,
  maxObserverBytes: 8 << 20,
  maxHeldBytes: 16 << 20,
  maxOpen: 1024,
};
