// A client on stdio: it keeps every update, serves files, and answers permission requests as the check wants.
import { spawn } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';

const REQUEST_MS = 120_000;

export class RpcError extends Error {
  constructor(method, error) {
    super(`${method}: ${error.code} ${error.message}${error.data === undefined ? '' : ` ${JSON.stringify(error.data).slice(0, 300)}`}`);
    this.code = error.code;
  }
}

export class Client {
  /** Every update, as `{ sessionId, update }`. */
  updates = [];
  /** Every permission request and form, with the answer. */
  requests = [];
  stderr = '';
  /** `allow` or `reject`. */
  answer = 'allow';
  /** Answers a missing file with no content instead of an error. */
  missingIsEmpty = false;
  #pending = new Map();
  #waiting = new Set();
  #nextId = 0;

  constructor(command, args, { cwd, env }) {
    this.child = spawn(command, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] });
    this.child.stdin.on('error', () => {});
    this.child.stderr.on('data', (chunk) => {
      this.stderr += chunk;
    });
    createInterface({ input: this.child.stdout, crlfDelay: Number.POSITIVE_INFINITY }).on('line', (line) =>
      this.#receive(JSON.parse(line)),
    );
    this.exited = new Promise((resolve) => {
      this.child.on('exit', () => {
        for (const { reject } of this.#pending.values()) reject(new Error('the switchboard exited'));
        resolve();
      });
    });
  }

  request(method, params) {
    const id = this.#nextId++;
    this.#send({ id, method, params });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => settle(reject)(new Error(`${method}: no answer within ${REQUEST_MS / 1000} s`)), REQUEST_MS);
      const settle = (act) => (value) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        act(value);
      };
      this.#pending.set(id, { method, resolve: settle(resolve), reject: settle(reject) });
    });
  }
  notify(method, params) {
    this.#send({ method, params });
  }
  async initialize() {
    const clientCapabilities = { fs: { readTextFile: true, writeTextFile: true }, terminal: false };
    const { agentCapabilities } = await this.request('initialize', {
      protocolVersion: 1,
      clientCapabilities,
      clientInfo: { name: 'agents-check', version: '1' },
    });
    this.capabilities = agentCapabilities ?? {};
  }
  /** Resolves with the first update, now or later, that passes the test. */
  update(test, from = 0) {
    const seen = this.updates.slice(from).find(test);
    if (seen) return Promise.resolve(seen);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('an expected update did not come')), REQUEST_MS);
      const look = (update) => {
        if (!test(update)) return;
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(update);
      };
      this.#waiting.add(look);
    });
  }
  /** The text that the agent sent in a session, from an update on. */
  textOf(sessionId, from = 0) {
    const mine = this.updates
      .slice(from)
      .filter((one) => one.sessionId === sessionId && one.update.sessionUpdate === 'agent_message_chunk');
    return mine.map(({ update }) => update.content?.text ?? '').join('');
  }
  async close() {
    this.child.stdin.end();
    const timer = setTimeout(() => this.child.kill('SIGKILL'), 20_000);
    await this.exited;
    clearTimeout(timer);
  }

  #send(message) {
    this.child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
  #receive(message) {
    if (message.method === undefined) {
      const open = this.#pending.get(message.id);
      if (message.error) open?.reject(new RpcError(open.method, message.error));
      else open?.resolve(message.result);
    } else if (message.id === undefined) {
      if (message.method !== 'session/update') return;
      this.updates.push(message.params);
      for (const look of [...this.#waiting]) look(message.params);
    } else {
      this.#serve(message.method, message.params).then(
        (result) => this.#send({ id: message.id, result }),
        (error) => this.#send({ id: message.id, error: { code: error.code === 'ENOENT' ? -32002 : -32601, message: error.message } }),
      );
    }
  }
  async #serve(method, params) {
    if (method === 'session/request_permission') return { outcome: this.#decide(params) };
    if (method === 'fs/read_text_file') return { content: await readFile(params.path, 'utf8').catch(this.#missing) };
    if (method === 'fs/write_text_file') {
      await mkdir(path.dirname(params.path), { recursive: true });
      await writeFile(params.path, params.content);
      return {};
    }
    throw new Error(`not offered: ${method}`);
  }
  #missing = (error) => {
    if (this.missingIsEmpty && error.code === 'ENOENT') return '';
    throw error;
  };
  #decide({ options, toolCall, sessionId }) {
    const wanted = this.answer === 'allow' ? ['allow_once', 'allow_always'] : ['reject_once', 'reject_always'];
    const option = wanted.map((kind) => options.find((one) => one.kind === kind)).find((one) => one !== undefined);
    this.requests.push({ sessionId, title: toolCall?.title, kind: toolCall?.kind, toolCallId: toolCall?.toolCallId, answer: option?.kind });
    return option ? { outcome: 'selected', optionId: option.optionId } : { outcome: 'cancelled' };
  }
}
