// Every op, by service and name.
import type { Service } from '../frames.ts';
import { agentOps } from './agents.ts';
import { fileOps, fileSystemOps } from './files.ts';
import type { Op } from './op.ts';
import { sessionOps } from './sessions.ts';
import { terminalOps } from './terminals.ts';
import { turnOps } from './turns.ts';

export const OPS: Readonly<Record<Service, ReadonlyMap<string, Op>>> = {
  acp: new Map(Object.entries({ ...agentOps, ...turnOps, ...sessionOps, ...terminalOps, ...fileOps })),
  fileSystem: new Map(Object.entries(fileSystemOps)),
};
