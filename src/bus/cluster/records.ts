// What hosts write into the directory, and the requests between edges and hosts. Other versions may be on the bus, so unknown fields are ignored.
import { z } from 'zod';
import { NAME } from '../bus.ts';

/** Readers accept records of this version and of later ones that keep its fields. */
export const VERSION = 1;

/** The subjects and directories of a tenant. Subjects name who sends, so that a server can grant each process its own only. */
export const subjects = (tenant: string) => ({
  hosts: `sb-${tenant}-hosts`,
  sessions: `sb-${tenant}-sessions`,
  /** A stream: decisions of hosts, by `HOST.INCARNATION`. Hosts append; a collector reads and trims. */
  audit: `sb-${tenant}-audit`,
  /** A directory: how far the records of each `HOST=INCARNATION` are collected. Collectors write, hosts read their own entries. */
  collected: `sb-${tenant}-collected`,
  /** A directory: the signed policy, under one key. Publishers write, hosts read. */
  policy: `sb-${tenant}-policy`,
  openAt: (host: string, principal: string) => `sb.${tenant}.host.${host}.open.${principal}`,
  drainAt: (host: string) => `sb.${tenant}.host.${host}.drain`,
  /** Messages of links. */
  linkToHost: (host: string, principal: string, link: string) => `sb.${tenant}.host.${host}.link.${principal}.${link}`,
  linkToEdge: (principal: string, edge: string, host: string, link: string) => `sb.${tenant}.edge.${principal}.${edge}.${host}.${link}`,
});

const answering = z.enum(['host', 'agent']);
/**
 * Who answers `fs/*` and `terminal/*` of an agent: its host, or nobody, so that the agent uses its own tools there. Never the client: its files are not
 * those of the host.
 */
const served = z.object({ fs: answering, terminal: answering });
export type AnsweredBy = z.infer<typeof served>;

const hostRecord = z.object({
  v: z.number().int().min(1),
  host: z.string(),
  /** Distinguishes the lives of a host with this name. */
  incarnation: z.string(),
  labels: z.record(z.string(), z.string()),
  agents: z.array(z.string()),
  /** By agent. Earlier versions do not say it. */
  served: z.record(z.string(), served).optional(),
  /** Open links, and how many there may be. */
  load: z.number(),
  capacity: z.number(),
  version: z.string(),
  isDraining: z.boolean(),
  /** On a host that obeys policy bundles: the version in force, or why it accepts no sessions. */
  policy: z.object({ bundle: z.number().optional(), expiresAt: z.string().optional(), problem: z.string().optional() }).optional(),
});
export type HostRecord = z.infer<typeof hostRecord>;

const sessionRecord = z.object({
  v: z.number().int().min(1),
  host: z.string(),
  incarnation: z.string(),
  agent: z.string(),
  principal: z.string(),
  /** The agent's own id of the session. */
  nativeId: z.string(),
  cwd: z.string().optional(),
  served: served.optional(),
});

const openRequest = z.object({
  v: z.number().int().min(1),
  /** The edge's id, which is also the beginning of its links' ids. */
  edge: z.string().regex(NAME),
  link: z.string().regex(NAME),
  agent: z.string(),
  principal: z.string(),
  /** The session that it is for, if it exists already. */
  session: z.string().optional(),
  /** Where it will work. Earlier versions do not say it. */
  directories: z.array(z.string()).optional(),
});
export type OpenRequest = z.infer<typeof openRequest>;

/** A record of a directory that arrives at this subject by mistake is none. */
const drainRequest = z.object({ v: z.number().int().min(1), drain: z.string() });

export const REFUSALS = [
  'full',
  'draining',
  'no lease',
  'agent missing',
  'directory',
  'policy',
  'another principal',
  'unknown version',
  'directory away',
] as const;
const openAnswer = z.discriminatedUnion('isOpen', [
  z.object({ isOpen: z.literal(true), epoch: z.number().int().nonnegative() }),
  z.object({ isOpen: z.literal(false), reason: z.enum(REFUSALS), why: z.string().optional() }),
]);
export type OpenAnswer = z.infer<typeof openAnswer>;

const parser =
  <T>(schema: z.ZodType<T>) =>
  (bytes: Buffer): T | undefined => {
    try {
      return schema.safeParse(JSON.parse(bytes.toString())).data;
    } catch {
      return undefined;
    }
  };
export const readHost = parser(hostRecord);
export const readSession = parser(sessionRecord);
export const readOpenRequest = parser(openRequest);
export const readDrainRequest = parser(drainRequest);
export const readOpenAnswer = parser(openAnswer);
export const write = (record: object): Buffer => Buffer.from(JSON.stringify(record));
