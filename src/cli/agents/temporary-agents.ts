// Agents that a command starts for a moment, to ask them something. Whatever ends the command ends them and all they started; what a
// killed one leaves is on record, and the next start of a switchboard ends it.

import type { AgentSpec } from '../../agents/defaults.ts';
import { createRunningRecord, newMark } from '../../agents/running-record.ts';
import { launchAgent } from '../../app/launch.ts';
import type { Secrets } from '../../redaction/redact.ts';
import type { Transport } from '../../transports/transport.ts';
import { onInterrupts } from '../interrupts.ts';

/** `heard` gets what it says on stderr, cleaned, line by line. */
export type Launch = (spec: AgentSpec, secrets: Secrets, heard?: (line: string) => void) => Transport;

type Passing = { readonly launch: Launch; kill(): void; end(): Promise<void> };

/** For a process that deals with its signals itself, and ends by `process.exit`. */
export async function withAgents<T>(stateDir: string, work: (launch: Launch) => Promise<T>): Promise<T> {
  const agents = createPassing(stateDir);
  try {
    return await work(agents.launch);
  } finally {
    await agents.end();
  }
}

/** The same for a command of its own: Ctrl-C and any second signal end it at once, the first of the others in good order. */
export async function untilInterrupted<T>(stateDir: string, work: (launch: Launch) => Promise<T>): Promise<T> {
  const agents = createPassing(stateDir);
  const interrupts = onInterrupts(() => false, agents.kill);
  try {
    return await Promise.race([work(agents.launch), interrupts.ended]);
  } finally {
    await agents.end();
    interrupts.stop();
  }
}

function createPassing(stateDir: string): Passing {
  const mark = newMark();
  const running = createRunningRecord(stateDir, mark, () => {}); // one that cannot be written is told of by `doctor`
  const started: Transport[] = [];
  let isOver = false;
  function kill(): void {
    isOver = true;
    for (const agent of started) agent.kill();
    running.clear();
  }
  process.on('exit', kill);
  return {
    launch(spec, secrets, heard) {
      const agent = launchAgent(spec, mark, secrets, heard);
      if (isOver)
        agent.kill(); // whoever asks for it has not heard yet
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
