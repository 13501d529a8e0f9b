// Ids that decide to whom a frame belongs. If a frame has one twice, we could read the first and the client the last, and one agent could reach
// what belongs to another.
import type { Frame } from '../../wire/frame.ts';
import { isDuplicate } from '../../wire/json-path.ts';
import { briefOf } from '../../wire/scanner/large-frame.ts';
import type { Parts } from '../parts.ts';

const TERMINAL = ['terminalId'];
const IDS: Readonly<Record<string, readonly string[]>> = {
  'terminal/output': TERMINAL,
  'terminal/wait_for_exit': TERMINAL,
  'terminal/kill': TERMINAL,
  'terminal/release': TERMINAL,
  'elicitation/create': ['requestId', 'elicitationId'],
  'elicitation/complete': ['elicitationId'],
  'mcp/message': ['serverId', 'connectionId', 'requestId'],
  'mcp/connect': ['acpId', 'serverId', 'id'],
  'mcp/disconnect': ['connectionId'],
  '$/cancel_request': ['requestId'],
};

/** Why an agent's frame must not be passed on. A single agent can reach nothing of another, so its frames pass unchanged. */
export function duplicateId(proxy: Parts<'pool'>, frame: Frame): string | undefined {
  const ids = proxy.pool.single || frame.method === undefined || !Object.hasOwn(IDS, frame.method) ? undefined : IDS[frame.method];
  if (!ids || !frame.body) return undefined;
  const { bytes, body } = briefOf(frame);
  const id = ids.find((key) => isDuplicate(bytes, body, key));
  return id === undefined ? undefined : `"${id}" occurs twice`;
}
