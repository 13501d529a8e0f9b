// The ids by which we tell what is whose. Named twice in a frame, we would look at the one and most editors at the other, and so one agent could
// reach what belongs to another.
import type { Frame } from '../wire/frame.ts';
import { isDuplicate } from '../wire/json-path.ts';
import { briefOf } from '../wire/scanner/large-frame.ts';
import type { ProxyParts } from './parts.ts';

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

/** Why a frame of an agent's must not be passed on. With one agent there is nothing of another's, and it passes as it is. */
export function duplicateKeys(proxy: ProxyParts, frame: Frame): string | undefined {
  const ids = proxy.pool.single || frame.method === undefined || !Object.hasOwn(IDS, frame.method) ? undefined : IDS[frame.method];
  if (!ids || !frame.body) return undefined;
  const { bytes, body } = briefOf(frame);
  const id = ids.find((key) => isDuplicate(bytes, body, key));
  return id === undefined ? undefined : `"${id}" occurs twice`;
}
