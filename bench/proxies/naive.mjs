// The obvious first version: split into lines, JSON.parse, inspect, JSON.stringify. But a tidy one: one write per chunk read, back-pressure
// honoured, request ids rewritten both ways, sessions routed by a Map.
import { agentOf, startAgents } from './agents.mjs';

const agents = startAgents();
const ownerOf = new Map(); // session id -> agent
const fromClient = new Map(); // our id -> { id, method }: requests of the client that agents answer
const fromAgents = new Map(); // our id -> { id, agent }: requests of agents that the client answers
let nextId = 0;

function messages(source, handle, flush) {
  let pieces = [];
  source.on('data', (chunk) => {
    let from = 0;
    for (let lf = chunk.indexOf(10); lf !== -1; lf = chunk.indexOf(10, from)) {
      const piece = chunk.subarray(from, lf);
      const line = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
      pieces = [];
      from = lf + 1;
      handle(JSON.parse(line.toString()));
    }
    if (from < chunk.length) pieces.push(chunk.subarray(from));
    flush();
  });
}
/** Collects lines and writes them at once; pauses `sources` while the stream is full. */
function createSink(stream, sources) {
  let text = '';
  stream.on('drain', () => {
    for (const source of sources()) source.resume();
  });
  return {
    add(message) {
      text += `${JSON.stringify(message)}\n`;
    },
    flush() {
      if (text === '') return;
      const all = text;
      text = '';
      if (!stream.write(all)) for (const source of sources()) source.pause();
    },
  };
}

const toClient = createSink(process.stdout, () => agents.map((agent) => agent.stdout));
const toAgents = agents.map((agent) => createSink(agent.stdin, () => [process.stdin]));
const flushAgents = () => {
  for (const sink of toAgents) sink.flush();
};

messages(
  process.stdin,
  (message) => {
    if (message.method === undefined) {
      const asked = fromAgents.get(message.id);
      fromAgents.delete(message.id);
      message.id = asked.id;
      return toAgents[asked.agent].add(message);
    }
    const agent = message.method === 'session/new' ? agentOf(message.params) : (ownerOf.get(message.params?.sessionId) ?? 0);
    if (message.id !== undefined) {
      fromClient.set(nextId, { id: message.id, method: message.method });
      message.id = nextId++;
    }
    toAgents[agent].add(message);
  },
  flushAgents,
);
agents.forEach((agent, index) => {
  messages(
    agent.stdout,
    (message) => {
      if (message.method === undefined) {
        const asked = fromClient.get(message.id);
        fromClient.delete(message.id);
        if (asked.method === 'session/new') ownerOf.set(message.result.sessionId, index);
        message.id = asked.id;
      } else if (message.id !== undefined) {
        fromAgents.set(nextId, { id: message.id, agent: index });
        message.id = nextId++;
      }
      toClient.add(message);
    },
    () => toClient.flush(),
  );
});
