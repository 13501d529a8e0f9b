// A proxy built with the ACP SDK: a typed agent towards the client, a typed client towards each agent, handlers in between.
import { Readable, Writable } from 'node:stream';
import { agent, client, methods, ndJsonStream } from '@agentclientprotocol/sdk';
import { agentOf, startAgents } from './agents.mjs';

const ownerOf = new Map(); // session id -> agent
const stream = (output, input) => ndJsonStream(Writable.toWeb(output), Readable.toWeb(input));
let upstream;

const agents = startAgents().map(({ stdin, stdout }) =>
  client({ name: 'bench-proxy' })
    .onNotification(methods.client.session.update, ({ params }) => upstream.notify(methods.client.session.update, params))
    .onRequest(methods.client.fs.readTextFile, ({ params }) => upstream.request(methods.client.fs.readTextFile, params))
    .connect(stream(stdin, stdout)),
);
const owner = (params) => agents[ownerOf.get(params.sessionId) ?? 0].agent;

({ client: upstream } = agent({ name: 'bench-proxy' })
  .onRequest(methods.agent.initialize, async ({ params }) => {
    const [answer] = await Promise.all(agents.map((one) => one.agent.request(methods.agent.initialize, params)));
    return answer;
  })
  .onRequest(methods.agent.session.new, async ({ params }) => {
    const index = agentOf(params);
    const answer = await agents[index].agent.request(methods.agent.session.new, params);
    ownerOf.set(answer.sessionId, index);
    return answer;
  })
  .onRequest(methods.agent.session.prompt, ({ params }) => owner(params).request(methods.agent.session.prompt, params))
  .onNotification(methods.agent.session.cancel, ({ params }) => owner(params).notify(methods.agent.session.cancel, params))
  .onNotification(
    '_bench/note',
    (params) => params,
    ({ params }) => owner(params).notify('_bench/note', params),
  )
  .connect(stream(process.stdout, process.stdin)));
