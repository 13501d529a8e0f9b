// What a second attached client costs per frame of a burst: the hub between a proxy and its clients, with a pipe to each client.
import { spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { summary } from '../lib/collect.mjs';
import { load } from '../lib/in-process.mjs';

const FRAMES = 500;
const SESSION = 'session-0001';

function chunkOf(frames) {
  const line = (n) =>
    `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${SESSION}","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"word ${n} of a message that an agent writes"}}}}\n`;
  return Buffer.from(Array.from({ length: frames }, (_, n) => line(n)).join(''));
}

export default {
  name: 'attach',
  title: 'Daemon: bursts of 200 B frames to one and to two clients of a session',
  variants: ['one', 'two'],
  metrics: { us: { title: 'CPU µs/frame', digits: 2 } },
  async measure({ isShort, workDir }) {
    const { serveClients, Scanner } = await load(workDir, { serveClients: 'attach/serve-clients.ts', Scanner: 'wire/scanner/scanner.ts' });
    const rounds = isShort ? 10 : 30;
    return { one: { us: await burst(1) }, two: { us: await burst(2) } };

    async function burst(count) {
      let toHub;
      const served = serveClients({
        ...{ scanner: new Scanner(), maxFrameBytes: 1 << 25, graceMs: 0, offersAttach: false },
        refuses: () => undefined,
        isStored: () => true,
        openProxy({ input, output }) {
          toHub = output;
          input.on('data', (chunk) => {
            for (const text of String(chunk).trimEnd().split('\n')) {
              const { id, method } = JSON.parse(text);
              const result = method === 'session/new' ? { sessionId: SESSION } : {};
              output.write(Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`));
            }
          });
          // The transcript takes the place of a long log.
          const transcripts = { mark: () => 1, updates: () => [] };
          return { ended: new Promise(() => {}), transcripts, close: async () => {} };
        },
      });
      const readers = [];
      for (let k = 0; k < count; k++) {
        const reader = spawn('cat', [], { stdio: ['pipe', 'ignore', 'ignore'] });
        const input = Object.assign(new EventEmitter(), { pause() {}, resume() {} });
        served.connect({ input, output: reader.stdin }, { name: 'bench', role: 'client' });
        const send = (id, method, params) => input.emit('data', Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`));
        send(1, 'initialize', { protocolVersion: 1 });
        await new Promise(setImmediate);
        send(2, k === 0 ? 'session/new' : 'session/load', { sessionId: k === 0 ? undefined : SESSION, cwd: '/', mcpServers: [] });
        await new Promise(setImmediate);
        readers.push({ reader, send });
      }
      const chunk = chunkOf(FRAMES);
      const samples = [];
      for (let round = 0; round < rounds + 3; round++) {
        const before = process.cpuUsage();
        for (let n = 0; n < 40; n++) {
          if (!toHub.write(Buffer.from(chunk))) await new Promise((resolve) => toHub.on('drain', resolve));
          await new Promise(setImmediate);
        }
        const { user, system } = process.cpuUsage(before);
        if (round >= 3) samples.push((user + system) / (40 * FRAMES));
      }
      for (const { reader } of readers) {
        reader.stdin.end();
        await once(reader, 'exit');
      }
      await served.close();
      return summary(samples);
    }
  },
};
