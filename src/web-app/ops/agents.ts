// `connect`, `authenticate` and `authMethods`.
import * as z from 'zod';
import { ClientError } from '../../client/client-error.ts';
import { chooseAgent } from '../choose-agent.ts';
import { type Op, op } from './op.ts';

const connect = z.object({
  agentCmd: z.string().max(10_000).optional(),
  cwd: z.string().optional(),
  env: z.record(z.string(), z.string().max(32_768)).nullish(),
  proxy: z.string().max(2000).nullish(),
});

export const agentOps: Readonly<Record<string, Op>> = {
  connect: op(connect, async ({ principal, page }, { agentCmd, cwd = '', env, proxy }) => {
    const { choices, refusesDirectory } = principal.deps;
    const refused = cwd === '' ? undefined : refusesDirectory(cwd);
    if (refused !== undefined) throw new ClientError(-32602, `cwd ${refused}`);
    const wanted = { agentCmd, env: env ?? {}, proxy: proxy ?? undefined, ...(cwd !== '' && { cwd }) };
    const chosen = chooseAgent(choices, wanted);
    if (cwd !== '') page.cwd = cwd;
    const { init, name } = await principal.connect(page, chosen);
    return { ok: true, init, agent: name };
  }),
  authenticate: op(z.object({ methodId: z.string().min(1) }), async ({ principal, page }, { methodId }) => {
    const { client } = await principal.agentOf(page);
    return client.request('authenticate', { methodId });
  }),
  authMethods: op(z.object({}), async ({ principal, page }) => ({ methods: (await principal.agentOf(page)).authMethods })),
};
