// The ACP methods between a client and an agent, with the types of the ACP SDK. Methods that are not listed here (drafts, extensions) can be used
// all the same, untyped.
import type {
  AuthenticateRequest,
  AuthenticateResponse,
  CancelNotification,
  CloseSessionRequest,
  CloseSessionResponse,
  CompleteElicitationNotification,
  CreateElicitationRequest,
  CreateElicitationResponse,
  CreateTerminalRequest,
  CreateTerminalResponse,
  DeleteSessionRequest,
  DeleteSessionResponse,
  InitializeRequest,
  InitializeResponse,
  KillTerminalRequest,
  KillTerminalResponse,
  ListSessionsRequest,
  ListSessionsResponse,
  LoadSessionRequest,
  LoadSessionResponse,
  LogoutRequest,
  LogoutResponse,
  NewSessionRequest,
  NewSessionResponse,
  PromptRequest,
  PromptResponse,
  ReadTextFileRequest,
  ReadTextFileResponse,
  ReleaseTerminalRequest,
  ReleaseTerminalResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  ResumeSessionRequest,
  ResumeSessionResponse,
  SessionNotification,
  SetSessionConfigOptionRequest,
  SetSessionConfigOptionResponse,
  SetSessionModeRequest,
  SetSessionModeResponse,
  TerminalOutputRequest,
  TerminalOutputResponse,
  WaitForTerminalExitRequest,
  WaitForTerminalExitResponse,
  WriteTextFileRequest,
  WriteTextFileResponse,
} from '@agentclientprotocol/sdk';

type Call<Params, Result> = { readonly params: Params; readonly result: Result };

/** Requests from a client to an agent. */
export type AgentRequests = {
  readonly initialize: Call<InitializeRequest, InitializeResponse>;
  readonly authenticate: Call<AuthenticateRequest, AuthenticateResponse>;
  readonly logout: Call<LogoutRequest, LogoutResponse>;
  readonly 'session/new': Call<NewSessionRequest, NewSessionResponse>;
  readonly 'session/load': Call<LoadSessionRequest, LoadSessionResponse>;
  readonly 'session/resume': Call<ResumeSessionRequest, ResumeSessionResponse>;
  readonly 'session/list': Call<ListSessionsRequest, ListSessionsResponse>;
  readonly 'session/close': Call<CloseSessionRequest, CloseSessionResponse>;
  readonly 'session/delete': Call<DeleteSessionRequest, DeleteSessionResponse>;
  readonly 'session/prompt': Call<PromptRequest, PromptResponse>;
  readonly 'session/set_mode': Call<SetSessionModeRequest, SetSessionModeResponse>;
  readonly 'session/set_config_option': Call<SetSessionConfigOptionRequest, SetSessionConfigOptionResponse>;
};

/** Notifications from a client to an agent. */
export type AgentNotifications = { readonly 'session/cancel': CancelNotification };

/** Requests from an agent to a client. */
export type ClientRequests = {
  readonly 'session/request_permission': Call<RequestPermissionRequest, RequestPermissionResponse>;
  readonly 'fs/read_text_file': Call<ReadTextFileRequest, ReadTextFileResponse>;
  readonly 'fs/write_text_file': Call<WriteTextFileRequest, WriteTextFileResponse>;
  readonly 'terminal/create': Call<CreateTerminalRequest, CreateTerminalResponse>;
  readonly 'terminal/output': Call<TerminalOutputRequest, TerminalOutputResponse>;
  readonly 'terminal/wait_for_exit': Call<WaitForTerminalExitRequest, WaitForTerminalExitResponse>;
  readonly 'terminal/kill': Call<KillTerminalRequest, KillTerminalResponse>;
  readonly 'terminal/release': Call<ReleaseTerminalRequest, ReleaseTerminalResponse>;
  readonly 'elicitation/create': Call<CreateElicitationRequest, CreateElicitationResponse>;
};

/** Notifications from an agent to a client. */
export type ClientNotifications = {
  readonly 'session/update': SessionNotification;
  readonly 'elicitation/complete': CompleteElicitationNotification;
};

/** A value to send: nobody changes it, and JSON leaves out optional fields that are undefined. */
export type Sendable<T> = T extends readonly (infer Item)[]
  ? readonly Sendable<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Sendable<T[Key]> | (Pick<T, Key> extends Required<Pick<T, Key>> ? never : undefined) }
    : T;

export type ParamsOf<Method extends string> = Method extends keyof AgentRequests ? Sendable<AgentRequests[Method]['params']> : unknown;
export type ResultOf<Method extends string> = Method extends keyof AgentRequests ? AgentRequests[Method]['result'] : unknown;
export type NotificationParamsOf<Method extends string> = Method extends keyof AgentNotifications
  ? Sendable<AgentNotifications[Method]>
  : unknown;

export type Capabilities = NonNullable<ParamsOf<'initialize'>['clientCapabilities']>;
export type PromptBlocks = ParamsOf<'session/prompt'>['prompt'];
