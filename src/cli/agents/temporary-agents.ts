// Agents that a command starts briefly. They end with the command, with all their processes. If the command is killed, the next
// start of switchboard stops what is left, from the record.

import type { AgentProcessOptions } from '../../agents/agent-process.ts';
import type { AgentSpec } from '../../agents/defaults.ts';
import { createRunningRecord, newMark } from '../../agents/running-record.ts';
import { launchAgent, unlessOnBus } from '../../app/launch.ts';
import { DEFAULTS } from '../../config/config.ts';
import type { Secrets } from '../../redaction/redact.ts';
import type { Transport } from '../../transports/transport.ts';
import { onInterrupts } from '../interrupts.ts';

/** `heard` receives the redacted stderr, line by line. `contain` starts the program in a sandbox. */
export type Launch = (
  spec: AgentSpec,
  secrets: Secrets,
  heard?: (line: string) => void,
  contain?: AgentProcessOptions['contain'],
) => Transport;

type TemporaryAgents = { readonly launch: Launch; kill(): void; end(): Promise<void> };

/** For a process that handles its own signals and ends with `process.exit`. */
export async function withAgents<T>(stateDir: string, work: (launch: Launch) => Promise<T>): Promise<T> {
  const agents = createTemporaryAgents(stateDir);
  try {
    return await work(agents.launch);
  } finally {
    await agents.end();
  }
}

/** For a standalone command: Ctrl-C and any second signal kill the agents; other first signals stop them cleanly. */
export async function untilInterrupted<T>(stateDir: string, work: (launch: Launch) => Promise<T>): Promise<T> {
  const agents = createTemporaryAgents(stateDir);
  const interrupts = onInterrupts(() => false, agents.kill);
  try {
    return await Promise.race([work(agents.launch), interrupts.ended]);
  } finally {
    await agents.end();
    interrupts.stop();
  }
}

function createTemporaryAgents(stateDir: string): TemporaryAgents {
  const mark = newMark();
  const running = createRunningRecord(stateDir, mark, () => {}); // `doctor` reports a record that cannot be written
  const started: Transport[] = [];
  let isOver = false;
  function kill(): void {
    isOver = true;
    for (const agent of started) agent.kill();
    running.clear();
  }
  process.on('exit', kill);
  return {
    launch(spec, secrets, heard, contain) {
      const agent = launchAgent(spec, { onBus: unlessOnBus, mark, secrets, limits: DEFAULTS.limits, heard, contain });
      if (isOver)
        agent.kill(); // requested after the end
      else if (agent.pid !== undefined) running.childStarted(agent.pid);
      started.push(agent);
      return agent;
    },
    kill,
    async end() {
      isOver = true;
      await Promise.all(started.map((agent) => agent.stop()));
      running.clear();
      process.off('exit', kill);
    },
  };
}
