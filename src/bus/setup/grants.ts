// What each kind of process may do on NATS: its own subjects and keys, and nothing of another's. Pure.
//
// A consumer delivers the records of its stream to any subject that its creator names, also to one where the creator may not send. So nobody may
// create consumers on a stream that they can write to, except `admin`.
import { nameOf } from '../bus.ts';
import { subjects } from '../cluster/records.ts';

export const ROLES = ['host', 'edge', 'control', 'admin'] as const;
export type Role = (typeof ROLES)[number];

export type Member = {
  readonly role: Role;
  /** The name of the host, or whose sessions an edge's are. */
  readonly name: string;
  /** Its public key. */
  readonly key: string;
};

export type Grants = {
  readonly publish: readonly string[];
  readonly subscribe: readonly string[];
  /** It may answer what it is asked. */
  readonly answers: boolean;
};

/** Where answers to the owner of this key go: nobody else may listen there. */
export const inboxOf = (key: string): string => `_INBOX.${key}`;

export function grantsOf(tenant: string, { role, name, key }: Member): Grants {
  const at = subjects(tenant);
  const own = nameOf(name);
  const inbox = `${inboxOf(key)}.>`;
  switch (role) {
    case 'admin':
      return { publish: ['>'], subscribe: ['>'], answers: false };
    case 'host':
      return {
        publish: [
          at.linkToEdge('*', '*', own, '*'),
          ...entries(at.hosts, own),
          ...entries(at.sessions, '*'),
          // The records of each of its incarnations.
          `${at.audit}.${own}.*`,
          ...reading(at.audit, `${at.audit}.${own}.*`),
          ...readingEntries(at.collected, '*'),
          ...readingEntries(at.policy, '*'),
          ...watching(directoryStream(at.policy)),
          ...looking,
        ],
        subscribe: [at.openAt(own, '*'), at.drainAt(own), at.linkToHost(own, '*', '*'), inbox],
        answers: true,
      };
    case 'edge':
      return {
        publish: [
          at.openAt('*', own),
          at.linkToHost('*', own, '*'),
          ...readingEntries(at.hosts, '*'),
          ...readingEntries(at.sessions, '*'),
          ...watching(directoryStream(at.hosts)),
          ...looking,
        ],
        subscribe: [at.linkToEdge(own, '*', '*', '*'), inbox],
        answers: false,
      };
    case 'control':
      return {
        publish: [
          at.drainAt('*'),
          ...readingEntries(at.hosts, '*'),
          ...readingEntries(at.sessions, '*'),
          ...watching(directoryStream(at.hosts)),
          ...watching(directoryStream(at.sessions)),
          ...entries(at.policy, '*'),
          ...entries(at.collected, '*'),
          ...reading(at.audit, `${at.audit}.>`),
          ...watching(at.audit),
          `$JS.API.STREAM.PURGE.${at.audit}`, // it removes what it has collected
          ...looking,
        ],
        subscribe: [inbox],
        answers: false,
      };
  }
}

/** Whether JetStream is on, and what there is. */
const looking = ['$JS.API.INFO', '$JS.API.STREAM.INFO.*'];

/** The stream behind a directory. */
export const directoryStream = (name: string): string => `KV_${name}`;

const readingEntries = (name: string, key: string): readonly string[] => reading(directoryStream(name), `$KV.${name}.${key}`);

const reading = (stream: string, subject: string): readonly string[] => [`$JS.API.DIRECT.GET.${stream}.${subject}`];

const entries = (name: string, key: string): readonly string[] => [`$KV.${name}.${key}`, ...readingEntries(name, key)];

const watching = (stream: string): readonly string[] => [
  `$JS.API.CONSUMER.CREATE.${stream}.>`,
  `$JS.API.CONSUMER.INFO.${stream}.*`,
  `$JS.API.CONSUMER.DELETE.${stream}.*`,
  `$JS.API.CONSUMER.MSG.NEXT.${stream}.*`,
  `$JS.FC.${stream}.>`,
];
