// The agent about itself, as JSON: what tests and the guided tour look at to see who answered and with what.
import type { Scene } from './scenario.ts';

export const whoami: Scene = async (turn) => {
  const { sessionId, cwd, modeId, configValues, turns } = turn.session.record;
  const self = {
    name: turn.persona.name,
    pid: process.pid,
    sessionId,
    cwd,
    mode: modeId,
    ...configValues,
    mcpServers: turn.session.mcp.names,
    turns,
  };
  await turn.say(JSON.stringify(self, null, 2));
};
