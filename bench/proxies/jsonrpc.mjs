// The proxy on vscode-jsonrpc: a connection towards the client and one towards each agent, with readers and writers for lines of JSON.
import { AbstractMessageReader, AbstractMessageWriter, createMessageConnection } from 'vscode-jsonrpc/node';
import { agentOf, startAgents } from './agents.mjs';

class LineReader extends AbstractMessageReader {
  constructor(input) {
    super();
    this.input = input;
  }
  listen(callback) {
    let pieces = [];
    this.input.on('data', (chunk) => {
      let from = 0;
      for (let lf = chunk.indexOf(10); lf !== -1; lf = chunk.indexOf(10, from)) {
        const piece = chunk.subarray(from, lf);
        const line = pieces.length === 0 ? piece : Buffer.concat([...pieces, piece]);
        pieces = [];
        from = lf + 1;
        callback(JSON.parse(line.toString()));
      }
      if (from < chunk.length) pieces.push(chunk.subarray(from));
    });
    return { dispose() {} };
  }
}
class LineWriter extends AbstractMessageWriter {
  constructor(output) {
    super();
    this.output = output;
  }
  async write(message) {
    this.output.write(`${JSON.stringify(message)}\n`);
  }
  end() {}
}
const connect = (input, output) => createMessageConnection(new LineReader(input), new LineWriter(output));

const ownerOf = new Map(); // session id -> agent
const upstream = connect(process.stdin, process.stdout);
const agents = startAgents().map(({ stdin, stdout }) => {
  const agent = connect(stdout, stdin);
  agent.onNotification((method, params) => upstream.sendNotification(method, params));
  agent.onRequest((method, params) => upstream.sendRequest(method, params));
  agent.listen();
  return agent;
});
const owner = (params) => agents[ownerOf.get(params?.sessionId) ?? 0];

upstream.onNotification((method, params) => owner(params).sendNotification(method, params));
upstream.onRequest(async (method, params) => {
  if (method === 'initialize') return (await Promise.all(agents.map((agent) => agent.sendRequest(method, params))))[0];
  if (method !== 'session/new') return owner(params).sendRequest(method, params);
  const index = agentOf(params);
  const answer = await agents[index].sendRequest(method, params);
  ownerOf.set(answer.sessionId, index);
  return answer;
});
upstream.listen();
