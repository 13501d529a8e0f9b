// What a proxy reports besides its frames. It is absent while telemetry is off, and no report is made for single frames.

export type Activity = {
  /** An agent has answered initialize. `process` distinguishes the processes of one agent. */
  agentReady(process: string): void;
};
